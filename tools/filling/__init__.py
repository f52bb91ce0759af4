"""What the marked tables of README and docs are made of, by subject."""
