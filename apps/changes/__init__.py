"""Changes with approval, staged rollout and rollback."""
