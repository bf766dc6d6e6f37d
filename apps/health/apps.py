"""Django configuration of this app."""

from django.apps import AppConfig


class HealthConfig(AppConfig):
    name = "apps.health"
    default_auto_field = "django.db.models.BigAutoField"
