"""What comes before training: tables, the parts their columns play, groups, numbers."""
