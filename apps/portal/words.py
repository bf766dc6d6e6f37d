"""Words of the overview for people: how fit a domain is to train, and what it is that it is not."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.core.verdicts import Verdict
from apps.environments.engine.hardware import AtOdds

Word = str | Promise

FITNESS: Mapping[Verdict, Word] = {
    Verdict.PASS: _("fit"),
    Verdict.WARN: _("fit, with a remark"),
    Verdict.FAIL: _("not fit"),
    Verdict.UNKNOWN: _("not known"),
    Verdict.WAIVED: _("waived"),
}
DRIFT: Mapping[Verdict, Word] = {
    Verdict.WARN: _("drift warns"),
    Verdict.FAIL: _("drift fails"),
    Verdict.UNKNOWN: _("drift is not known"),
}
ALL_REDUCE: Mapping[Verdict, Word] = {
    Verdict.WARN: _("the all-reduce warns"),
    Verdict.FAIL: _("the all-reduce fails"),
    Verdict.UNKNOWN: _("the all-reduce is not known"),
}
NODES: Mapping[Verdict, Word] = {
    Verdict.WARN: _("nodes are sub-healthy or in maintenance"),
    Verdict.FAIL: _("nodes are faulty or in quarantine"),
}
HARDWARE: Mapping[Verdict, Word] = {
    Verdict.FAIL: _("nodes report other accelerators than are on record"),
    Verdict.UNKNOWN: _("reports of accelerators contradict each other or the record"),
}
AT_ODDS: Mapping[AtOdds, Word] = {
    AtOdds.MISSING: _("Accelerators that the node reports: %(found)s; on record: %(held_against)s."),
    AtOdds.OTHER: _("The node reports %(found)s; on record is %(held_against)s."),
    AtOdds.UNCLEAR: _(
        "Numbers of accelerators contradict each other or the record: %(found)s and %(held_against)s."
    ),
}
