"""Django configuration of this app."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "apps.accounts"

    def ready(self) -> None:
        from apps.accounts.names import AccountsDirectory
        from apps.audit import directory

        directory.use(AccountsDirectory())
