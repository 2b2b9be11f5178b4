"""Numbers, no words."""
