"""Settings of the whole suite."""

from hypothesis import settings

# The same examples in every run; `pytest --hypothesis-profile=default` looks for new ones.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.load_profile("same")
