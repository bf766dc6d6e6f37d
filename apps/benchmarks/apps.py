"""Django configuration of this app."""

from django.apps import AppConfig


class BenchmarksConfig(AppConfig):
    name = "apps.benchmarks"
    default_auto_field = "django.db.models.BigAutoField"
