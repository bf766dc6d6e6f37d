"""API of environments: matrices, drift, what nodes report, and the environment of jobs."""
