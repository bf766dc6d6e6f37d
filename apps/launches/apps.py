"""Django configuration of this app."""

from django.apps import AppConfig


class LaunchesConfig(AppConfig):
    name = "apps.launches"
    default_auto_field = "django.db.models.BigAutoField"
