"""Keys that a configuration file with several runs has in addition to the keys of an experiment."""

PROTOCOLS, DATASETS, EXCEPTIONS = "protocols", "datasets", "exceptions"
AXES = (PROTOCOLS, DATASETS, EXCEPTIONS)
