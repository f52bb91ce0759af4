"""What several baselines share, and nothing else does."""
