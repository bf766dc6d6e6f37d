"""Outgoing webhooks as plain values: signatures, the times of retries, and addresses that are never called."""
