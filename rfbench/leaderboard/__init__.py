"""Which method, how many features, at what cost: a comparison over many data sets."""
