"""The rules of changes as plain values: states, approvals, stages, and when a target is reached."""
