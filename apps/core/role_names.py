"""What the roles are called on pages."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.core.rights import RIGHTS_OF, Right, Role

ROLE_NAMES: dict[Role, str | Promise] = {
    Role.VIEWER: _("viewer"),
    Role.OPERATOR: _("operator"),
    Role.APPROVER: _("approver"),
    Role.SIGNER: _("signer"),
    Role.AUDITOR: _("auditor"),
    Role.ADMIN: _("administrator"),
}


def roles_with(right: Right) -> list[str | Promise]:
    """Names of the roles that carry a right, in the order of the roles."""
    return [ROLE_NAMES[role] for role in Role if right in RIGHTS_OF[role]]
