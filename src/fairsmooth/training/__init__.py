"""What every training loop shares: checked inputs, batches, solvers, records."""
