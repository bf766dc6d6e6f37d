"""The project: environment variables, settings, deployment files."""
