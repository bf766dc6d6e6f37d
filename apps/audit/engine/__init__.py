"""The chain of events as plain values: how it is hashed and how it is verified."""
