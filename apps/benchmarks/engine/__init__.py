"""Benchmarks as plain values: what a run measured, and whether that is as fast as it should be."""
