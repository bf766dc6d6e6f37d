"""Concepts that every app shares: units, verdicts, errors, clock, digests, paging, page parts; no tables."""
