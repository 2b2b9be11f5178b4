"""Selection of a model for one table within a time budget."""
