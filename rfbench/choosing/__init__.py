"""Model selection for one table within a time budget."""
