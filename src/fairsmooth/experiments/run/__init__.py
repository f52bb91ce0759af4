"""From declarations to rows: plan, jobs, store, runner."""
