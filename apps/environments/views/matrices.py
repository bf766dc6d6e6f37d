"""A matrix with its versions, and one version."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.core.pages import actor_of
from apps.environments import queries
from apps.fleet.page import cluster_context


def matrix(request: HttpRequest, pk: int) -> HttpResponse:
    """One matrix through all its versions."""
    row = queries.matrix_for(actor_of(request), pk)
    context = cluster_context(row.cluster) | {"matrix": row, "versions": queries.versions_of(row)}
    return render(request, "environments/matrix.html", context)


def version(request: HttpRequest, pk: int) -> HttpResponse:
    """One version: what it asks for."""
    row = queries.matrix_version_for(actor_of(request), pk)
    context = cluster_context(row.matrix.cluster) | {"version": row, "matrix": row.matrix}
    return render(request, "environments/version.html", context)
