"""A strong certified bound on sums of latencies: Lagrangian relaxation."""
