"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.environments.views import compatibility, drafts, drift, jobs, matrices, nodes, overview

app_name = "environments"
urlpatterns = [
    path("environment/", overview.overview, name="overview"),
    path("clusters/<slug:slug>/environment/", overview.cluster, name="cluster"),
    path("clusters/<slug:slug>/environment/draft/", drafts.new_cluster_draft, name="new_cluster_draft"),
    path(
        "clusters/<slug:slug>/environment/draft/reports/",
        drafts.cluster_draft_from_reports,
        name="cluster_draft_from_reports",
    ),
    path(
        "clusters/<slug:slug>/environment/draft/file/",
        drafts.cluster_draft_from_file,
        name="cluster_draft_from_file",
    ),
    path(
        "clusters/<slug:slug>/environment/draft/version/",
        drafts.cluster_draft_from_other,
        name="cluster_draft_from_other",
    ),
    path("clusters/<slug:slug>/environment/settings/", overview.policy, name="policy"),
    path("environment/rules/", compatibility.rules, name="compatibility_rules"),
    path("environment/rules/new/", compatibility.rule, name="add_compatibility_rule"),
    path("environment/rules/<slug:rule_id>/", compatibility.rule, name="compatibility_rule"),
    path("environment/rules/<slug:rule_id>/clear/", compatibility.clear, name="clear_compatibility_rule"),
    path("environment/matrices/<int:pk>/", matrices.matrix, name="matrix"),
    path("environment/versions/<int:pk>/", matrices.version, name="version"),
    path("environment/versions/<int:pk>/compare/", matrices.compare, name="compare"),
    path("environment/versions/<int:pk>/export/", matrices.export, name="export"),
    path("environment/versions/<int:pk>/lock/", matrices.lock, name="lock"),
    path("environment/versions/<int:pk>/retire/", matrices.retire, name="retire"),
    path("environment/versions/<int:pk>/draft/", drafts.draft_from_version, name="draft_from_version"),
    path("environment/versions/<int:pk>/import/", drafts.import_file, name="import"),
    path("environment/versions/<int:pk>/entries/", drafts.entry, name="add_entry"),
    path("environment/versions/<int:pk>/entries/<slug:component>/", drafts.entry, name="entry"),
    path(
        "environment/versions/<int:pk>/entries/<slug:component>/remove/",
        drafts.remove_entry,
        name="remove_entry",
    ),
    path("environment/domains/<int:pk>/drift/", drift.drift, name="drift"),
    path("environment/domains/<int:pk>/check/", drift.check_now, name="check"),
    path("environment/domains/<int:pk>/draft/", drafts.new_draft, name="new_draft"),
    path("environment/domains/<int:pk>/draft/reports/", drafts.draft_from_reports, name="draft_from_reports"),
    path("environment/domains/<int:pk>/draft/version/", drafts.draft_from_other, name="draft_from_other"),
    path("environment/domains/<int:pk>/draft/file/", drafts.draft_from_file, name="draft_from_file"),
    path("environment/findings/<int:pk>/assign/", drift.assign, name="assign"),
    path("environment/job-check/", jobs.job_check, name="job_check"),
    path("environment/nodes/<int:pk>/", nodes.node, name="node"),
    path("environment/components/<slug:component_id>/", nodes.holders, name="holders"),
]
