"""Django configuration of this app."""

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "apps.core"
