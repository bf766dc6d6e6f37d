"""What is to be done about a fault: detailed actions of the reference table, and the class that people act by."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class ActionClass(StrEnum):
    """The class of an action, from light to heavy; unknown stands for a code that nobody has described."""

    NONE = "none"
    UNKNOWN = "unknown"
    RESTART_APP = "restart_app"
    RESET = "reset"
    REBOOT = "reboot"
    DRAIN_REPAIR = "drain_repair"
    CONTACT_VENDOR = "contact_vendor"


_CLASS_OF = {
    "none": ActionClass.NONE,
    "follow_linked": ActionClass.NONE,
    "restart_app": ActionClass.RESTART_APP,
    "investigate_software": ActionClass.RESTART_APP,
    "update_software": ActionClass.DRAIN_REPAIR,
    "follow_workflow": ActionClass.RESET,
    "reset_gpu": ActionClass.RESET,
    "reset_fabric": ActionClass.REBOOT,
    "reboot_node": ActionClass.REBOOT,
    "check_mechanicals": ActionClass.DRAIN_REPAIR,
    "drain": ActionClass.DRAIN_REPAIR,
    "contact_support": ActionClass.CONTACT_VENDOR,
}
_ORDER = tuple(ActionClass)
_STEPS = (ActionClass.RESTART_APP, ActionClass.RESET, ActionClass.REBOOT, ActionClass.DRAIN_REPAIR)


def class_of(action: str) -> ActionClass:
    """The class of a detailed action; unknown for one that the table does not have."""
    return _CLASS_OF.get(action, ActionClass.UNKNOWN)


def heaviest(classes: Iterable[ActionClass]) -> ActionClass:
    """The heaviest of several; none for none at all."""
    return max(classes, key=_ORDER.index, default=ActionClass.NONE)


def escalated(action_class: ActionClass, *, came_back: bool) -> ActionClass:
    """One step up where the same fault came back on the same device, soon after it was resolved.

    Restart becomes reset, reset becomes reboot, reboot becomes repair, repair becomes a case with the vendor.
    """
    if action_class not in _STEPS or not came_back:
        return action_class
    return _ORDER[_ORDER.index(action_class) + 1]


def action_of_recovery(text: str) -> str:
    """The detailed action that the driver's own words ask for (Xid 154, nvidia-smi); empty where not understood.

    `Drain and Reset`, `GPU Reset Required`, `Node Reboot Required`, `Drain P2P`, `None`.
    """
    words = text.casefold()
    for word, action in (("reboot", "reboot_node"), ("reset", "reset_gpu"), ("drain", "drain")):
        if word in words:
            return action
    return "none" if words.strip() in ("none", "no action") else ""
