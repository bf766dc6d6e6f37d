"""Rights, and which role carries which."""

from __future__ import annotations

from enum import StrEnum

from apps.core.texts import Text, say


class Right(StrEnum):
    """What somebody may do in a scope."""

    READ = "read"
    OPERATE = (
        "operate"  # hand in evidence, edit the fleet, draft and lock matrices, ask for changes, open launches
    )
    APPROVE = "approve"  # approve what somebody else asked for
    SIGN = "sign"  # sign or waive items of a launch
    AUDIT = "audit"  # read, export and verify the audit trail
    ADMIN = "admin"  # people, roles, tokens, settings


# What is said to who lacks a right.
NEEDED: dict[Right, Text] = {
    Right.READ: say("this needs the right to read"),
    Right.OPERATE: say("this needs the right to operate"),
    Right.APPROVE: say("this needs the right to approve"),
    Right.SIGN: say("this needs the right to sign"),
    Right.AUDIT: say("this needs the right to audit"),
    Right.ADMIN: say("this needs the right to admin"),
}


class Role(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"
    APPROVER = "approver"
    SIGNER = "signer"
    AUDITOR = "auditor"
    ADMIN = "admin"


RIGHTS_OF: dict[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.OPERATOR: frozenset({Right.READ, Right.OPERATE}),
    Role.APPROVER: frozenset({Right.READ, Right.APPROVE}),
    Role.SIGNER: frozenset({Right.READ, Right.SIGN}),
    Role.AUDITOR: frozenset({Right.READ, Right.AUDIT}),
    Role.ADMIN: frozenset({Right.READ, Right.OPERATE, Right.AUDIT, Right.ADMIN}),
}


class TokenScope(StrEnum):
    """What a token may be used for; never more than its owner may do."""

    READ = "read"
    EVIDENCE_WRITE = "evidence:write"
    FLEET_WRITE = "fleet:write"
    ENVIRONMENT_WRITE = "environment:write"
    BENCHMARK_WRITE = "benchmark:write"
    PLAN_WRITE = "plan:write"
    CHANGE_WRITE = "change:write"
    LAUNCH_WRITE = "launch:write"
    GATE_EVALUATE = "gate:evaluate"
    AUDIT_READ = "audit:read"
