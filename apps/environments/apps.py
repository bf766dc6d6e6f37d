"""Django configuration of this app."""

from django.apps import AppConfig


class EnvironmentsConfig(AppConfig):
    name = "apps.environments"
    default_auto_field = "django.db.models.BigAutoField"
