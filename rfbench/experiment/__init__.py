"""Running experiments: from a checked configuration to rows of `trials.csv`."""
