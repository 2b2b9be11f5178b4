"""What a file of several runs has beside the keys of an experiment."""

PROTOCOLS, DATASETS, EXCEPTIONS = "protocols", "datasets", "exceptions"
AXES = (PROTOCOLS, DATASETS, EXCEPTIONS)
