"""Django configuration of this app."""

from django.apps import AppConfig


class ChangesConfig(AppConfig):
    name = "apps.changes"
    default_auto_field = "django.db.models.BigAutoField"
