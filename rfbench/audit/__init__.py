"""Optional component `audit`: runs with several values of settings that a paper leaves open."""
