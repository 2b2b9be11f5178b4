"""From a checked configuration to rows of `trials.csv`."""
