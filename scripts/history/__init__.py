"""When git first has the form of each claim, data set and setting, and when their first rows."""
