"""What the paper says, as predicates over rows, and their verdicts."""
