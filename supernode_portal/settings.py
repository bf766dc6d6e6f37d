"""Settings: one module, all of it from environment variables; docs/configuration.md names every one.

With no variable set the portal runs embedded: SQLite, a filesystem broker, local addresses, a secret key
that is made at the first start and kept in the data folder.
"""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from supernode_portal import env

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(env.text("PORTAL_DATA_DIR", str(BASE_DIR / "var"))).absolute()
PRODUCTION = env.flag("PORTAL_PRODUCTION", False)
DEBUG = False
VERSION = "0.1.0"


def _kept_secret(name: str) -> str:
    """The secret of the variable; embedded, one made once and kept (mode 0600) in the data folder."""
    if value := env.text(name):
        if len(value) < 40:
            raise ImproperlyConfigured(f"{name}: at least 40 characters, for instance 64 random hex digits")
        return value
    if PRODUCTION:
        raise ImproperlyConfigured(f"{name} or {name}_FILE must be set in production")
    path = DATA_DIR / "secrets" / name.lower()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            path.chmod(0o600)
            file.write(secrets.token_hex(32))
    except FileExistsError:
        pass
    return path.read_text(encoding="utf-8").strip()


SECRET_KEY = _kept_secret("PORTAL_SECRET_KEY")
SECRET_KEY_FALLBACKS = env.listing("PORTAL_SECRET_KEY_FALLBACKS")
# Number -> pepper; new tokens take the highest number, older ones stay valid until their pepper is removed.
TOKEN_PEPPERS = {1: _kept_secret("PORTAL_TOKEN_PEPPER")}
if _next_pepper := env.text("PORTAL_TOKEN_PEPPER_2"):
    TOKEN_PEPPERS[2] = _next_pepper
CHECKPOINT_SECRET = _kept_secret("PORTAL_CHECKPOINT_SECRET")

PUBLIC_URL_AS_SAID = env.text("PORTAL_PUBLIC_URL")  # empty where the default holds
PUBLIC_URL = env.origin("PORTAL_PUBLIC_URL", "http://127.0.0.1:8000")
ALLOWED_HOSTS = [
    *dict.fromkeys(
        # The health check of a container asks for 127.0.0.1.
        [urlsplit(PUBLIC_URL).hostname or "", "127.0.0.1", *env.listing("PORTAL_ALLOWED_HOSTS")]
        + ([] if PRODUCTION else ["localhost", "[::1]"])
    )
]
# A browser behind a TLS proxy sends Origin https://…, though the last hop is plain HTTP.
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
BEHIND_PROXY = env.flag("PORTAL_BEHIND_PROXY", False)
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

OWN_APPS = [
    "portal",
    "launches",
    "changes",
    "planning",
    "benchmarks",
    "health",
    "environments",
    "fleet",
    "evidence",
    "catalogue",
    "jobs",
    "accounts",
    "audit",
    "core",
]
INSTALLED_APPS = [
    *(f"apps.{name}" for name in OWN_APPS),
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_filters",
    "django_tables2",
    "django_htmx",
    "template_partials",
    "csp",
]
MIDDLEWARE = [
    "apps.core.middleware.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "apps.core.middleware.ErrorPageMiddleware",  # above what looks at forms: reading one may be refused
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.accounts.middleware.ActorMiddleware",
    "apps.jobs.middleware.IdempotencyMiddleware",
    "apps.catalogue.middleware.ComponentsMiddleware",
]
ROOT_URLCONF = "supernode_portal.urls"
WSGI_APPLICATION = "supernode_portal.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.portal.page.context",
            ],
            "builtins": [
                "apps.core.templatetags.components",
                "apps.core.templatetags.rights",
                "template_partials.templatetags.partials",
            ],
        },
    }
]
FILTERS_EMPTY_CHOICE_LABEL = _("any")
DJANGO_TABLES2_TEMPLATE = "django_tables2/portal.html"

DATABASES = {"default": env.database("DATABASE_URL", f"sqlite:///{DATA_DIR / 'portal.sqlite3'}")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    Path(str(DATABASES["default"]["NAME"])).absolute().parent.mkdir(parents=True, exist_ok=True)
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 25,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    DATABASES["default"]["OPTIONS"]["prepare_threshold"] = 2  # of what core/prepared.py holds

BROKER_URL = env.redis("CELERY_BROKER_URL", "filesystem://")
REDIS_URL = env.redis("REDIS_URL")
if REDIS_URL:
    CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": REDIS_URL,
            # In seconds; then a row counts instead.
            "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
        }
    }
else:
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

JOB_LEASE_S = env.integer("PORTAL_JOB_LEASE_S", 120, at_least=2, at_most=86400)
JOB_RESEND_S = env.integer("PORTAL_JOB_RESEND_S", 60, at_least=1, at_most=86400)
TICK_S = env.integer("PORTAL_TICK_S", 15, at_least=1, at_most=600)
# Networks and host names that webhooks may call although they are not public.
WEBHOOK_ALLOW = env.hosts_and_networks("PORTAL_WEBHOOK_ALLOW")
# Requests to the API per minute of each token or person; the gate counts by itself.
API_RATE_PER_MINUTE = env.integer("PORTAL_API_RATE_PER_MINUTE", 1200, at_least=10, at_most=1_000_000)
GATE_RATE_PER_MINUTE = env.integer("PORTAL_GATE_RATE_PER_MINUTE", 600, at_least=10, at_most=1_000_000)
EVIDENCE_DIR = DATA_DIR / "evidence"
EVIDENCE_LIMIT_BYTES = env.integer("PORTAL_EVIDENCE_LIMIT_MIB", 256, at_least=1, at_most=4096) * 2**20
# Evidence above this size is read by a job instead of in the request.
EVIDENCE_INLINE_BYTES = env.integer("PORTAL_EVIDENCE_INLINE_KIB", 1024, at_least=1, at_most=65536) * 2**10
# Days after which raw bytes that nothing rests on are removed; 0 keeps them for good. Readings always stay.
EVIDENCE_KEEP_DAYS = env.integer("PORTAL_EVIDENCE_KEEP_DAYS", 365, at_least=0, at_most=36500)
CHECKPOINT_DIR = DATA_DIR / "checkpoints"
# An Ed25519 private key in PEM; with it checkpoints can be verified by anybody who has the public key.
CHECKPOINT_KEY = env.ed25519_key("PORTAL_CHECKPOINT_KEY")
# For how long at most an item of a launch may be waived.
WAIVER_LONGEST_HOURS = env.integer("PORTAL_WAIVER_LONGEST_HOURS", 14 * 24, at_least=1, at_most=365 * 24)
STALE_AFTER_S = env.integer("PORTAL_STALE_AFTER_S", 24 * 3600, at_least=60, at_most=365 * 86400)

STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA_DIR / "media"},
    },
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
STATIC_URL = "static/"
STATIC_ROOT = Path(env.text("PORTAL_STATIC_ROOT", str(DATA_DIR / "static"))).absolute()
STATICFILES_DIRS = [BASE_DIR / "static"]
# Without collected files (a developer's machine, tests) static files are served from their sources.
if not (STATIC_ROOT / "staticfiles.json").exists() and "collectstatic" not in sys.argv:
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    WHITENOISE_USE_FINDERS = True
    WHITENOISE_AUTOREFRESH = True
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 2**20
# Files of forms go to the evidence volume, because /tmp may be small, and only up to the limit of evidence.
FILE_UPLOAD_HANDLERS = ["apps.evidence.uploads.BoundedUploadHandler"]
FILE_UPLOAD_PERMISSIONS = 0o640

AUTH_USER_MODEL = "accounts.Person"
AUTHENTICATION_BACKENDS = ["apps.accounts.backends.PeopleBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "accounts:sign_in"
LOGIN_REDIRECT_URL = "portal:overview"
LOGOUT_REDIRECT_URL = "accounts:sign_in"
# Signing a launch and rolling back ask for the password again after this time.
REAUTHENTICATE_AFTER_S = 15 * 60

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
# Written from a person's preference at sign-in, or by the menu; without it the browser's language counts.
LANGUAGE_COOKIE_NAME = "language"
LANGUAGE_COOKIE_AGE = 365 * 86400
LANGUAGE_COOKIE_SAMESITE = "Lax"
TIME_ZONE = "UTC"

# Security, beside what Django does by itself. Cookies are secure where people reach the portal by https, whatever
# the last hop speaks.
_https = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = _https
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 12 * 3600
CSRF_FAILURE_VIEW = "apps.core.error_pages.csrf_failure"
SECURE_HSTS_SECONDS = 31536000 if _https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = _https and env.flag("PORTAL_HSTS_SUBDOMAINS", False)
SILENCED_SYSTEM_CHECKS = [
    # The proxy redirects to https: done here, one that passes no X-Forwarded-Proto would loop.
    "security.W008",
    # Subdomains and preload bind the whole domain of the company, which is not the portal's to decide.
    "security.W005",
    "security.W021",
]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "report-uri": ["/csp-report/"],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["apps.accounts.authentication.ActorAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["apps.core.api.SignedIn", "apps.core.api.KnownParameters"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.core.parsing.PlainJSONParser"],
    "DEFAULT_THROTTLE_CLASSES": ["apps.accounts.throttling.CallerThrottle"],
    "DEFAULT_PAGINATION_CLASS": "apps.core.paging.CursorPages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "apps.core.schema.PortalSchema",
    "EXCEPTION_HANDLER": "apps.core.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "COERCE_DECIMAL_TO_STRING": False,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Supernode Portal",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "VerdictEnum": "apps.core.verdicts.VERDICT_CHOICES",
        "JobStateEnum": "apps.jobs.models.JobState",
        "ReceiptStateEnum": "apps.evidence.models.ReceiptState",
        "HoldKindEnum": "apps.fleet.models.HoldKind",
        "PartKindEnum": "apps.fleet.models.PartKind",
        "PartStageEnum": "apps.fleet.models.hardware.STAGE_CHOICES",
        "CatalogueKindEnum": "apps.catalogue.engine.overlays.KIND_CHOICES",
        "NodeHealthEnum": "apps.fleet.models.NodeHealth",
        "LifeCycleEnum": "apps.fleet.models.LifeCycle",
        "ChangeKindEnum": "apps.changes.models.ChangeKind",
        "ChangeStateEnum": "apps.changes.models.ChangeState",
        "LaunchStateEnum": "apps.launches.models.LaunchState",
    },
    "PREPROCESSING_HOOKS": ["apps.core.schema.only_api_paths"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.core.schema.plain_any",
        "apps.core.schema.only_known_fields",
    ],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"request_id": {"()": "apps.core.logs.RequestIdFilter"}},
    "formatters": {
        "json": {"()": "apps.core.logs.JsonFormatter"},
        "plain": {
            "()": "apps.core.logs.PlainFormatter",
            "fmt": "{asctime} {levelname} {name} [{request_id}] {message}",
            "style": "{",
        },
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "filters": ["request_id"],
            "formatter": env.choice(
                "PORTAL_LOG_FORMAT", "json" if PRODUCTION else "plain", ("json", "plain")
            ),
        }
    },
    "root": {
        "handlers": ["console"],
        "level": env.choice("PORTAL_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR")),
    },
    "loggers": {
        "httpx": {"level": "WARNING"},
        "kombu.connection": {"level": "ERROR"},  # the filesystem broker has no host, and says so each time
        "django.server": {"handlers": ["console"], "propagate": False},
    },
}
