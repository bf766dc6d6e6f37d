"""Work that outlives a request: jobs, schedules, idempotency keys, outgoing webhooks."""
