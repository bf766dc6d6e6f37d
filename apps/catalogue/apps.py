"""Django configuration of this app."""

from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "apps.catalogue"
    default_auto_field = "django.db.models.BigAutoField"
