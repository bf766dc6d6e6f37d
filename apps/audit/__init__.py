"""The append-only, hash-chained record of every decision."""
