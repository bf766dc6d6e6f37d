"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.health.views import knowledge, metrics, overview, settings, upkeep

app_name = "health"
urlpatterns = [
    path("health/", overview.overview, name="overview"),
    path("health/faults/<int:pk>/", overview.fault, name="fault"),
    path("health/faults/<int:pk>/resolve/", overview.resolve, name="resolve"),
    path("health/nodes/<int:pk>/quarantine/", overview.quarantine, name="quarantine"),
    path("health/knowledge/", knowledge.items, name="knowledge"),
    path("health/knowledge/<slug:item_id>/", knowledge.item, name="item"),
    path("health/diagnose/", knowledge.diagnose, name="diagnose"),
    path("health/rules/", settings.rules, name="rules"),
    path("health/rules/<slug:rule_id>/", settings.rule, name="rule"),
    path("clusters/<slug:slug>/health/settings/", settings.policy, name="policy"),
    path("clusters/<slug:slug>/health/metrics/", metrics.source, name="metrics"),
    path("clusters/<slug:slug>/health/metrics/remove/", metrics.remove, name="remove_metrics"),
    path("clusters/<slug:slug>/health/metrics/fetch/", metrics.fetch, name="fetch_metrics"),
    path("health/upkeep/", upkeep.calendar, name="upkeep"),
    path("health/upkeep/<int:pk>/", upkeep.task, name="task"),
    path("health/upkeep/<int:pk>/retire/", upkeep.retire, name="retire_upkeep"),
    path("clusters/<slug:slug>/upkeep/plan/", upkeep.plan, name="plan_upkeep"),
    path("clusters/<slug:slug>/upkeep/plan-usual/", upkeep.plan_usual, name="plan_usual_upkeep"),
]
