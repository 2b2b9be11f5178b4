"""Which model to take for one table."""
