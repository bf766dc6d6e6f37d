"""The launch gate as plain values: items, how they combine, and what CI is told."""
