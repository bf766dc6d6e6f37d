"""Pages of jobs, schedules and webhooks."""
