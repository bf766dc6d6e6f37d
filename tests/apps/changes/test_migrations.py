"""Who edited changes that were there before it was kept."""

from __future__ import annotations

from django.core.management import call_command

from apps.changes import services
from apps.changes.models import Change
from apps.changes.services import Content, Wish
from apps.core import triggers
from apps.core.rights import Role
from tests import factories
from tests.apps.changes.conftest import NEW
from tests.callers import actor_for


def test_who_edited_older_changes_is_taken_from_the_trail(committed_database, drafted, bo, chen, cluster):
    factories.grant(chen, Role.OPERATOR, scope=cluster.scope)
    change = drafted()
    for person, title in ((chen, "Newer NCCL"), (bo, "Newer NCCL.")):
        content = Content(title=title, reason="fixes", wishes=(Wish(component="nccl", values=(NEW,)),))
        change = services.edit_change(
            actor=actor_for(person), change_id=change.pk, expected_version=change.version, content=content
        )

    call_command("migrate", "changes", "0001", verbosity=0)
    call_command("migrate", verbosity=0)

    assert {editor.person for editor in Change.objects.get().editors.all()} == {bo, chen}
    assert triggers.missing() == []
