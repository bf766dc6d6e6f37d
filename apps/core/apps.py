"""Django configuration of this app."""

from django.apps import AppConfig
from django.apps import apps as installed
from django.db.models.signals import post_migrate, pre_migrate


class CoreConfig(AppConfig):
    name = "apps.core"

    def ready(self) -> None:
        """Triggers are lifted before a migration and put in place after it.

        Django sends these signals once for each app that has models, before all and after all migrations; one of
        them is enough, and this app has none.
        """
        from apps.core import triggers

        sender = installed.get_app_config("contenttypes")
        pre_migrate.connect(triggers.lift, sender=sender)
        post_migrate.connect(triggers.put_in_place, sender=sender)
