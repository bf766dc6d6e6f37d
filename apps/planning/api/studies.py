"""API of the studies: the input of the page's form as JSON; the answer at once, or the job that computes it."""

from __future__ import annotations

from math import isinf
from typing import Any

from django import forms
from django.urls import URLPattern, path
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import actor_of
from apps.core.errors import FieldError, Invalid
from apps.core.rights import Right, TokenScope
from apps.jobs.answers import JobOut, accepted
from apps.planning.engine.bars import bars, is_fitted
from apps.planning.engine.validation import SourceSummary
from apps.planning.queries.validation import validation
from apps.planning.services.computing import engine_version
from apps.planning.services.studies import ask_study
from apps.planning.studies import STUDIES, asking
from apps.planning.studies.base import Study
from apps.planning.studies.fields import ModelField, SizesField, StudyForm


class StudyOut(serializers.Serializer[Any]):
    """The answer to a study."""

    input = serializers.DictField(help_text="The input as it was understood, start values included.")
    result = serializers.DictField(
        help_text="Figures by name; shares lie between 0 and 1, times are seconds."
    )
    formulas = serializers.DictField(help_text="Formula and source behind each figure.")
    engine_version = serializers.CharField()


class StudyView(APIView):
    """One study."""

    study: Study
    rights = {"POST": Right.READ}  # a long one is a job, but changes nothing of anybody's

    def post(self, request: Request) -> Response:
        """Answer the study; what the body leaves out keeps the value that the page starts from."""
        actor = actor_of(request)
        asking.require_reader(actor)
        if not isinstance(request.data, dict):
            raise Invalid("the body is a JSON object", code="type")
        form = asking.form_of_json(self.study, request.data, actor=actor)
        if self.study.is_long:
            if not form.is_valid():
                raise _invalid(form)
            job = ask_study(
                actor=actor,
                study=self.study.key,
                scope_id=form.scope_id,
                values=form.values(),
                asked=asking.as_sent(form),
            )
            return accepted(job)
        answered = asking.answer(self.study, form)
        if answered is None:
            raise _invalid(form)
        values, result = answered
        body = {"input": values, "result": result, "formulas": asking.formulas(self.study)}
        return Response(body | {"engine_version": engine_version()})


class BarOut(serializers.Serializer[Any]):
    """One promise and what is reached."""

    code = serializers.CharField()
    reached = serializers.FloatField(help_text="A share, or a rank correlation.")
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    runs = serializers.IntegerField(source="count")
    met = serializers.BooleanField()


class SourceOut(serializers.Serializer[Any]):
    """Errors of one source of published runs; shares."""

    source = serializers.CharField()
    runs = serializers.IntegerField(source="count")
    mean_absolute_error = serializers.FloatField()
    median_absolute_error = serializers.FloatField()
    bias = serializers.FloatField()
    coverage = serializers.FloatField()
    fitted = serializers.SerializerMethodField(help_text="Whether the coefficients were fitted on it, too.")

    def get_fitted(self, one: SourceSummary) -> bool:
        return is_fitted(one.source)


class ValidationOut(serializers.Serializer[Any]):
    """How far the planner can be trusted."""

    engine_version = serializers.CharField()
    overall = SourceOut()
    bars = BarOut(many=True)
    sources = SourceOut(many=True)


class ValidationView(APIView):
    @extend_schema(responses=ValidationOut, operation_id="planning_validation")
    def get(self, request: Request) -> Response:
        """Predictions beside published measurements: what was promised, what is reached, errors by source."""
        asking.require_reader(actor_of(request))
        found = validation()
        rows = [
            {"code": bar.code, "reached": bar.reached, "low": _limit(bar.low), "high": _limit(bar.high)}
            | {"count": bar.count, "met": bar.met}
            for bar in bars(found.runs)
        ]
        body = {"engine_version": engine_version(), "overall": found.overall, "sources": found.sources}
        return Response(ValidationOut(body | {"bars": rows}).data)


def _limit(value: float) -> float | None:
    return None if isinf(value) else value


def _invalid(form: StudyForm) -> Invalid:
    problems = [
        FieldError(pointer="" if name == "__all__" else f"/{name}", message=str(text))
        for name, texts in form.errors.items()
        for text in texts
    ]
    return Invalid("the input of the study is not valid", errors=problems)


def urls() -> list[URLPattern]:
    """One address per study, and the validation."""
    return [
        path("planning/validation/", ValidationView.as_view(), name="validation"),
        *(
            path(f"planning/{key}/", _view_of(study).as_view(), name=f"study_{key}")
            for key, study in STUDIES.items()
        ),
    ]


def _view_of(study: Study) -> type[StudyView]:
    scope = TokenScope.PLAN_WRITE if study.is_long else TokenScope.READ
    made = type(
        f"{study.key.title()}Study",
        (StudyView,),
        {"study": study, "token_scopes": {"POST": scope}, "__doc__": str(study.question)},
    )
    answers: dict[int, Any] = {202: JobOut} if study.is_long else {200: StudyOut}
    described = extend_schema(
        operation_id=f"planning_{study.key}", request=_shape_of(study), responses=answers
    )
    return extend_schema_view(post=described)(made)


def _shape_of(study: Study) -> type[serializers.Serializer[Any]]:
    """The form's fields as a serializer, for the API's description; the form itself is what checks."""
    shape: dict[str, Any] = {name: _described(field) for name, field in study.form.base_fields.items()}
    shape["plan"] = serializers.CharField(
        required=False, help_text="A plan's version, as 12.3, whose values are the start values."
    )
    return type(f"{study.key.title()}StudyIn", (serializers.Serializer,), shape)


def _described(field: forms.Field) -> serializers.Field[Any, Any, Any, Any]:
    about: dict[str, Any] = {"required": False, "help_text": f"{field.label}. {field.help_text}".strip()}
    if not field.required:
        about["allow_null"] = True
    if isinstance(field, ModelField):
        about["help_text"] = (
            "Id of the catalogue, `plan` for the plan's own model, or the shape as an object."
        )
        return serializers.JSONField(**about)
    if isinstance(field, SizesField):
        return serializers.ListField(child=serializers.IntegerField(min_value=field.least), **about)
    if isinstance(field, forms.IntegerField) and not isinstance(field, forms.FloatField):
        return serializers.IntegerField(min_value=field.min_value, max_value=field.max_value, **about)
    if isinstance(field, forms.FloatField):
        return serializers.FloatField(min_value=field.min_value, max_value=field.max_value, **about)
    if isinstance(field, forms.BooleanField):
        return serializers.BooleanField(required=False, help_text=str(field.label))
    if isinstance(field, forms.MultipleChoiceField):
        return serializers.ListField(child=serializers.CharField(), **about)
    return serializers.CharField(**about)
