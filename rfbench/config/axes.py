"""Keys of a configuration file with several runs, in addition to the keys of an experiment."""

PROTOCOLS, DATASETS, EXCEPTIONS = "protocols", "datasets", "exceptions"
AXES = (PROTOCOLS, DATASETS, EXCEPTIONS)
