"""Running experiments: from a validated configuration to the rows of `trials.csv`."""
