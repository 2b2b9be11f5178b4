"""A course assignment on kernel approximation, and exercises with solutions."""
