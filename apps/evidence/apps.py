"""Django configuration of this app."""

from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "apps.evidence"
    default_auto_field = "django.db.models.BigAutoField"
