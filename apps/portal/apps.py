"""Django configuration of this app."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "apps.portal"
    default_auto_field = "django.db.models.BigAutoField"
