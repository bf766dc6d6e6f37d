"""The Django project: settings, urls and the Celery application; apps never import from here."""

from supernode_portal.celery import application as celery_application

__all__ = ["celery_application"]
