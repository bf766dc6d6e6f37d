"""Asking a study: a form from a request's values, what a plan's version fills in, and errors at the fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.forms import BooleanField, IntegerField
from django.http import QueryDict
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Invalid, Missing, NotAllowed
from apps.core.form_errors import show
from apps.core.rights import Right
from apps.core.texts import say
from apps.core.whole_numbers import NO_NUMBER, is_number, whole_number
from apps.jobs import queries as jobs
from apps.jobs.models import Job
from apps.planning import queries
from apps.planning.engine.study_terms import STUDY_TERMS
from apps.planning.models import PlanVersion
from apps.planning.services.studies import KIND
from apps.planning.studies.base import Result, Study
from apps.planning.studies.fields import StudyForm, refused
from apps.planning.studies.own_figures import WHOSE, first_whose
from apps.planning.studies.plan_facts import facts_of

SENT = "asked"  # the hidden field of a form that was sent: what it leaves out is meant to be empty


def require_reader(actor: Actor) -> None:
    """Whoever may read anything may compute. Raises NotAllowed."""
    if not actor.may_anywhere(Right.READ):
        raise NotAllowed(say("this needs the right to read"), code="role", right=Right.READ.value)


def plan_in(actor: Actor, said: Any) -> PlanVersion | None:
    """The version that `plan` names as PLAN.NUMBER, or the plan's newest as PLAN. Raises Invalid, Missing."""
    if not said:
        return None
    plan_id, _dot, number = str(said).partition(".")
    if not plan_id.isdecimal() or (number and not number.isdecimal()) or max(len(plan_id), len(number)) > 9:
        raise Invalid(say("plan: say plan and version, such as 12.3"), code="plan")
    if number:
        return queries.version_for(actor, int(plan_id), int(number))
    newest = queries.plan_for(actor, int(plan_id)).versions.select_related("plan").first()
    if newest is None:
        raise Missing(say("the plan has no version"))
    return newest


def form_for(study: Study, sent: QueryDict, *, actor: Actor) -> StudyForm:
    """The form of a page, always filled: by what was sent, else by a plan's facts over what the study starts from."""
    plan = plan_in(actor, sent.get("plan"))
    if SENT in sent:
        return study.form(sent, actor=actor, plan=plan)
    given = {name: sent.getlist(name) if len(sent.getlist(name)) > 1 else sent[name] for name in sent}
    return study.form(start_of(study, actor, plan) | given, actor=actor, plan=plan)


def form_of_json(study: Study, body: Mapping[str, Any], *, actor: Actor) -> StudyForm:
    """The form of a request over REST: what the body leaves out keeps its start value."""
    plan = plan_in(actor, body.get("plan"))
    unknown = set(body) - set(study.form.base_fields) - {"plan"}
    form = study.form(start_of(study, actor, plan) | dict(body), actor=actor, plan=plan)
    for name in sorted(unknown):
        form.add_error(None, say("%(name)s: there is no such field", name=name))
    for name, value in body.items():  # a form would take any text for yes, and yes for 1
        if isinstance(form.fields.get(name), BooleanField) and not isinstance(value, bool):
            form.add_error(name, _("Say true or false."))
        if isinstance(form.fields.get(name), IntegerField) and not is_number(value):
            form.add_error(name, NO_NUMBER)
    return form


def job_of(study: Study, actor: Actor, raw: str) -> Job:
    """The job that answers this study. Raises Missing for any other."""
    job_id = whole_number(raw)
    found = None if job_id is None else jobs.job(job_id, actor=actor)
    if found is None or found.kind != KIND or found.arguments.get("study") != study.key:
        raise Missing(say("there is no such answer to this study"))
    return found


def form_of_job(study: Study, job: Job, *, actor: Actor) -> StudyForm:
    """The form as it was when the job was asked for."""
    asked = job.arguments["asked"]
    return study.form(asked, actor=actor, plan=plan_in(actor, asked.get("plan")))


def as_sent(form: StudyForm) -> dict[str, Any]:
    """What was sent, as JSON values: the fields and the plan that filled them."""
    data, names = form.data, [*form.fields, "plan", SENT]
    if not isinstance(data, QueryDict):
        return {name: data[name] for name in names if name in data}
    lists = {name: data.getlist(name) for name in names if name in data}
    return {name: values if len(values) > 1 else values[0] for name, values in lists.items()}


def formulas(study: Study) -> dict[str, dict[str, str]]:
    """Formula and source behind each figure of a study."""
    mine = {key: term for key, term in STUDY_TERMS.items() if key.startswith(f"{study.key}.")}
    return {key: {"formula": term.formula, "source": term.source} for key, term in mine.items()}


def start_of(study: Study, actor: Actor, plan: PlanVersion | None) -> dict[str, Any]:
    """The values that a form starts from."""
    start = dict(study.form.start)
    if WHOSE in study.form.base_fields:
        start[WHOSE] = first_whose(actor, plan)
    if plan is not None:
        facts = facts_of(plan)
        start |= {name: facts[name] for name in study.form.base_fields if name in facts}
    return start


def answer(study: Study, form: StudyForm) -> tuple[dict[str, Any], Result] | None:
    """Values and result; None, with errors at the fields, where the input is not sound."""
    if not form.is_valid():
        return None
    values = form.values()
    try:
        return values, study.compute(values)
    except Invalid as error:
        place_errors(form, error)
        return None


def place_errors(form: StudyForm, error: Invalid) -> None:
    """The texts of a refusal at the fields that they are about."""
    if not error.errors:
        show(form, error)
        return
    for name, texts in refused(error).items():
        known = name if name in form.fields else None
        for text in texts:
            form.add_error(known, text if known else f"{name}: {text}" if name else text)
