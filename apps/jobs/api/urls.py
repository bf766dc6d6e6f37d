"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.jobs.api import views, webhooks

urlpatterns = [
    path("jobs/", views.Jobs.as_view(), name="jobs"),
    path("jobs/<int:job_id>/", views.OneJob.as_view(), name="job"),
    path("jobs/<int:job_id>/retry/", views.Retry.as_view(), name="retry"),
    path("audit-verifications/", views.AuditVerifications.as_view(), name="audit_verifications"),
    path("audit-checkpoints/", views.AuditCheckpoints.as_view(), name="audit_checkpoints"),
    path("schedules/", views.Schedules.as_view(), name="schedules"),
    path("schedules/<int:schedule_id>/", views.OneSchedule.as_view(), name="schedule"),
    path("webhook-endpoints/", webhooks.Endpoints.as_view(), name="endpoints"),
    path("webhook-endpoints/<int:endpoint_id>/", webhooks.OneEndpoint.as_view(), name="endpoint"),
    path("webhook-endpoints/<int:endpoint_id>/test/", webhooks.Test.as_view(), name="endpoint_test"),
    path("webhook-endpoints/<int:endpoint_id>/rotate/", webhooks.Rotate.as_view(), name="endpoint_rotate"),
    path("webhook-deliveries/", webhooks.Deliveries.as_view(), name="deliveries"),
    path("webhook-deliveries/<int:delivery_id>/", webhooks.OneDelivery.as_view(), name="delivery"),
    path("webhook-deliveries/<int:delivery_id>/redeliver/", webhooks.Redeliver.as_view(), name="redeliver"),
]
