"""Benchmark runs bound to nodes and versions, baselines and acceptance."""
