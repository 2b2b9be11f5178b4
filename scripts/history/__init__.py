"""First commits of the form of each claim, data set and setting, and of their first rows."""
