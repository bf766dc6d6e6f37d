"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.jobs.views import jobs, webhooks

app_name = "jobs"
urlpatterns = [
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs/bell/", jobs.bell, name="bell"),
    path("jobs/verify-audit/", jobs.verify_audit, name="verify_audit"),
    path("jobs/checkpoint-audit/", jobs.checkpoint_audit, name="checkpoint_audit"),
    path("jobs/<int:job_id>/", jobs.job, name="job"),
    path("jobs/<int:job_id>/fragment/", jobs.fragment, name="fragment"),
    path("jobs/<int:job_id>/cancel/", jobs.cancel, name="cancel"),
    path("jobs/<int:job_id>/retry/", jobs.retry, name="retry"),
    path("schedules/", jobs.schedules, name="schedules"),
    path("schedules/<int:schedule_id>/", jobs.schedule, name="schedule"),
    path("webhooks/", webhooks.endpoints, name="webhooks"),
    path("webhooks/new/", webhooks.create, name="create_webhook"),
    path("webhooks/<int:endpoint_id>/", webhooks.endpoint, name="webhook"),
    path("webhooks/<int:endpoint_id>/rotate/", webhooks.rotate, name="rotate_webhook"),
    path("webhooks/<int:endpoint_id>/test/", webhooks.test, name="test_webhook"),
    path("webhooks/<int:endpoint_id>/remove/", webhooks.remove, name="remove_webhook"),
    path("webhooks/deliveries/<int:delivery_id>/redeliver/", webhooks.redeliver, name="redeliver"),
]
