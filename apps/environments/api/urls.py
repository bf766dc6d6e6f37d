"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.environments.api.views import compatibility, drift, matrices, nodes

urlpatterns = [
    path("matrices/", matrices.Matrices.as_view(), name="matrices"),
    path("matrix-versions/", matrices.Versions.as_view(), name="versions"),
    path("matrix-versions/<int:pk>/", matrices.OneVersion.as_view(), name="version"),
    path("matrix-versions/<int:pk>/entries/", matrices.Entries.as_view(), name="entries"),
    path("matrix-versions/<int:pk>/entries/<slug:component>/", matrices.OneEntry.as_view(), name="entry"),
    path("matrix-versions/<int:pk>/lock/", matrices.Lock.as_view(), name="lock"),
    path("matrix-versions/<int:pk>/retire/", matrices.Retire.as_view(), name="retire"),
    path("matrix-versions/<int:pk>/compatibility/", matrices.Compatibility.as_view(), name="compatibility"),
    path("matrix-versions/<int:pk>/differences/", matrices.Differences.as_view(), name="differences"),
    path("matrix-versions/<int:pk>/export/", matrices.Export.as_view(), name="export"),
    path("domains/<int:pk>/intent/", drift.DomainIntent.as_view(), name="intent"),
    path("drift-checks/", drift.Checks.as_view(), name="checks"),
    path("drift-checks/<int:pk>/", drift.OneCheck.as_view(), name="check"),
    path("drift-findings/", drift.Findings.as_view(), name="findings"),
    path("drift-findings/<int:pk>/", drift.OneFinding.as_view(), name="finding"),
    path("environment-policies/<slug:slug>/", drift.Policy.as_view(), name="policy"),
    path("compatibility-rules/", compatibility.CompatibilityRules.as_view(), name="compatibility_rules"),
    path(
        "compatibility-rules/<slug:rule_id>/",
        compatibility.OneCompatibilityRule.as_view(),
        name="compatibility_rule",
    ),
    path("node-facts/", nodes.Facts.as_view(), name="facts"),
    path("nodes/<int:pk>/reported-versions/", nodes.Reported.as_view(), name="reported"),
    path("hardware-faults/<slug:slug>/", nodes.HardwareFaults.as_view(), name="hardware_faults"),
    path("components/", nodes.Components.as_view(), name="components"),
    path("job-environment-checks/", nodes.JobChecks.as_view(), name="job_checks"),
]
