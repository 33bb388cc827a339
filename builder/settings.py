"""Django's settings, from the environment variables that docs/architecture.md lists."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from builder.secret_key import secret_key

ROOT = Path(__file__).resolve().parent.parent


class Environment(BaseSettings):
    """What an installation may choose."""

    model_config = SettingsConfigDict(env_prefix="HEADRACE_", env_ignore_empty=True)

    data: Path = Path(".headrace")
    port: int = 8000
    # Names under which people reach this installation, by comma; `*` for any.
    hosts: str = "localhost,127.0.0.1,[::1]"
    # True where a proxy in front speaks HTTPS and sets X-Forwarded-Proto.
    https: bool = False
    admin_user: str = "admin"
    admin_password: str | None = None
    kafka: str | None = None
    # The hosts that connections may lead to, patterns by comma; empty for any.
    approved_hosts: str = ""
    # Below which folder connections to files may lie; by default one of the data folder.
    files: Path | None = None
    # What encrypts the secrets of connections, several by comma; by default a file in the data.
    secrets_key: str | None = Field(None, repr=False)
    spark_master: str | None = None
    # Under which address people reach this installation, for links in what it sends.
    url: str = ""
    # smtp://user:password@host:587 with STARTTLS, smtps:// with TLS from the first byte.
    smtp_url: str = Field("", repr=False)
    email_from: str = "headrace@localhost"
    # Where OpenLineage events go; none are made where it is empty.
    openlineage_url: str = ""
    openlineage_api_key: str = Field("", repr=False)
    openlineage_namespace: str = "headrace"
    # How long a check of a draft waits for Spark's word on columns.
    analyze_seconds: float = 4
    rehearse_seconds: float = 30
    # How long Spark may look for the rows of a table that are asked for.
    state_seconds: float = 20
    database_url: str | None = Field(None, validation_alias="DATABASE_URL")
    redis_url: str = Field("redis://127.0.0.1:6379/0", validation_alias="REDIS_URL")


ENVIRONMENT = Environment()
HEADRACE_DATA = ENVIRONMENT.data.resolve()
HEADRACE_DATA.mkdir(parents=True, exist_ok=True, mode=0o700)
HEADRACE_FILES = (ENVIRONMENT.files or HEADRACE_DATA / "files").resolve()

SECRET_KEY = secret_key(HEADRACE_DATA)
DEBUG = False
ALLOWED_HOSTS = [host.strip() for host in ENVIRONMENT.hosts.split(",")]
ROOT_URLCONF = "builder.urls"
ASGI_APPLICATION = "builder.asgi.application"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

INSTALLED_APPS = [
    "builder",
    "builder.access",
    "builder.connections",
    "builder.environments",
    "builder.pipelines",
    "builder.deployments",
    "builder.monitor",
    "builder.alerts",
    "builder.lineage",
    "builder.letters",
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    # Makes the API's page come from here instead of a CDN.
    "ninja",
]

MIDDLEWARE = [
    "builder.headers.security_headers",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "builder.access.origin.note_origin",
    "builder.refused_in_admin.RefusedInAdmin",
]

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

# --- Database

SQLITE = f"sqlite:///{HEADRACE_DATA / 'headrace.sqlite3'}"
_database = dj_database_url.parse(ENVIRONMENT.database_url or SQLITE)
if _database["ENGINE"] == "django.db.backends.sqlite3":
    _database["OPTIONS"] = {
        # Web and workers write to one file: a writer waits its turn from the beginning of its
        # transaction, since one that has already read can't wait and would fail.
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # Tests write from several threads at once, which SQLite can't do in memory.
    _database["TEST"] = {"NAME": HEADRACE_DATA / "test.sqlite3"}
else:
    _database["CONN_HEALTH_CHECKS"] = True
DATABASES = {"default": _database}

# --- Redis: broker of tasks, channel layer, who is there

REDIS_URL = ENVIRONMENT.redis_url


def _celery_url(url: str) -> str:
    """A Redis URL as Celery writes it: sockets have a scheme of their own there."""
    if not url.startswith("unix:"):
        return url
    parts = urlsplit(url)
    database = dict(p.split("=", 1) for p in parts.query.split("&") if "=" in p).get("db", "0")
    return f"redis+socket://{parts.path}?virtual_host={database}"


CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
        "KEY_PREFIX": "headrace",
    }
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL}], "prefix": "headrace"},
    }
}

CELERY_BROKER_URL = _celery_url(REDIS_URL)
CELERY_RESULT_BACKEND = CELERY_BROKER_URL
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_RESULT_EXPIRES = 300
CELERY_TASK_IGNORE_RESULT = True
# Every task is short and harmless to repeat: one that was lost with its worker runs again.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SOFT_TIME_LIMIT = 30
CELERY_TASK_TIME_LIMIT = 60
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# A Redis that accepts and then says nothing must not hold up a request.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 2,
    "socket_timeout": 5,
    "socket_keepalive": True,
}
CELERY_RESULT_BACKEND_TRANSPORT_OPTIONS = {"socket_connect_timeout": 2}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE_FILENAME = str(HEADRACE_DATA / "beat")
CELERY_TASK_DEFAULT_QUEUE = "control"
CELERY_TASK_ROUTES = {
    "builder.pipelines.tasks.rehearse": {"queue": "rehearsal"},
    "builder.monitor.tasks.ask_state": {"queue": "rehearsal"},
    "builder.pipelines.tasks.*": {"queue": "spark"},
    # These wait for other people's servers.
    "builder.alerts.tasks.send": {"queue": "outgoing"},
    "builder.lineage.tasks.tell": {"queue": "outgoing"},
}
# A tick that waited longer than the next one is due is dropped, so that none pile up.
CELERY_BEAT_SCHEDULE = {
    "reconcile": {
        "task": "builder.deployments.tasks.reconcile_all",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "follow": {
        "task": "builder.monitor.tasks.follow_all",
        "schedule": 1.0,
        "options": {"expires": 1},
    },
    "roll_up": {
        "task": "builder.monitor.tasks.roll_up",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "look": {
        "task": "builder.alerts.tasks.look",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "lineage": {
        "task": "builder.lineage.tasks.look",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "forget": {
        "task": "builder.alerts.tasks.forget",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "prune": {
        "task": "builder.monitor.tasks.prune",
        "schedule": 600.0,
        "options": {"expires": 600},
    },
}

# --- Mail

EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
_smtp = urlsplit(ENVIRONMENT.smtp_url)
# Empty where there is no mail server.
EMAIL_HOST = _smtp.hostname or ""
EMAIL_USE_SSL = _smtp.scheme == "smtps"
EMAIL_PORT = _smtp.port or (465 if EMAIL_USE_SSL else 587)
# A server on this machine, as for tests, may do without.
EMAIL_USE_TLS = _smtp.scheme == "smtp" and _smtp.query != "tls=off"
EMAIL_HOST_USER = unquote(_smtp.username or "")
EMAIL_HOST_PASSWORD = unquote(_smtp.password or "")
EMAIL_TIMEOUT = 5
DEFAULT_FROM_EMAIL = ENVIRONMENT.email_from

# --- Who may come in

AUTHENTICATION_BACKENDS = ["builder.access.backend.ByRoles"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/admin/login/"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ENVIRONMENT.https
if ENVIRONMENT.https:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
MAX_BODY = 4 * 1024 * 1024
# Of requests that carry rows. 5 MB of text may be three times that as JSON, with its escapes.
MAX_ROWS_BODY = 16 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_ROWS_BODY

# --- Files the browser loads

FRONTEND = ROOT / "frontend" / "dist"
STATIC_URL = "/static/"
SERVESTATIC_USE_FINDERS = True
SERVESTATIC_ALLOW_ALL_ORIGINS = False
# Vite names what it builds by hash; everything else is asked for anew.
SERVESTATIC_IMMUTABLE_FILE_TEST = r"^/assets/.+-[A-Za-z0-9_-]{8,}\.\w+$"
if FRONTEND.is_dir():
    SERVESTATIC_ROOT = FRONTEND

UNFOLD = {
    "SITE_TITLE": "Headrace",
    "SITE_HEADER": "Headrace",
    "SITE_URL": "/",
    "LOGIN": {"form": "builder.access.login_form.LoginForm"},
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {"django": {"handlers": ["stderr"], "level": "INFO", "propagate": False}},
}
