"""Pages of health: which parts are ill, and what to do about it?"""

from apps.health.views.overview import overview

__all__ = ["overview"]
