"""Every setting that an installation can change, once: each has one environment variable."""

import os
from importlib.util import find_spec
from urllib.parse import quote

from partitions_site.database import database
from partitions_site.environment import Environment, WrongSetting
from partitions_site.fixed import *  # noqa: F403  (settings are the names of this module)
from partitions_site.fixed import BASE_DIR, SWEEP_EXPIRES
from partitions_site.secret import kept_secret

env = Environment(os.environ)

# Where things are
DATA_DIR = env.path(
    "PARTITA_DATA_DIR",
    BASE_DIR / "var",
    "var",
    "Directory of the SQLite database, the secret key and files that runs write",
)
DATABASE_URL = env.text(
    "DATABASE_URL", "", "`postgres://user:password@host:5432/name`; empty: SQLite in the data directory"
)
REDIS_URL = env.text("REDIS_URL", "", "`redis://host:6379/0`: broker and cache; empty: the embedded engine")
CELERY_BROKER_URL = (
    env.text("CELERY_BROKER_URL", "", "Any Celery broker; empty: the one of `REDIS_URL`")
    or REDIS_URL
    or "memory://localhost/"
)
EMBEDDED = CELERY_BROKER_URL.startswith("memory://")
DEFINITIONS = env.items(
    "PARTITA_DEFINITIONS",
    "scheduling.examples",
    "Modules and files that define assets and Dags, separated by commas; `none` for none",
)
if DEFINITIONS == ["none"]:
    DEFINITIONS = []

# Who may come in
SECRET_KEY = env.text(
    "PARTITA_SECRET_KEY", "", "Signs sessions; empty: made once and kept in the data directory"
) or kept_secret(DATA_DIR / "secret_key")
DEBUG = env.flag("PARTITA_DEBUG", False, "Django's debug pages: only on a machine that nobody else reaches")
ALLOWED_HOSTS = env.items(
    "PARTITA_ALLOWED_HOSTS",
    "localhost,127.0.0.1,[::1]",
    "Host names that the site answers to, separated by commas",
)
CSRF_TRUSTED_ORIGINS = env.items(
    "PARTITA_TRUSTED_ORIGINS",
    "",
    "Origins (`https://host`) that may post forms, behind a proxy that ends TLS",
)
HTTPS = env.flag(
    "PARTITA_HTTPS", False, "People come by https through a proxy: cookies are sent over https only"
)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
HSTS_SECONDS = env.number(
    "PARTITA_HSTS_SECONDS", 3600, "With https: how long browsers come by https only; a year when all is well"
)
SECURE_HSTS_SECONDS = HSTS_SECONDS if HTTPS else 0
PROXIES = env.number(
    "PARTITA_PROXIES",
    0,
    "Proxies of ours in front of web: so many entries at the end of `X-Forwarded-For` are believed",
)
SIGN_IN_TRIES = env.number(
    "PARTITA_SIGN_IN_TRIES",
    10,
    "Wrong passwords of one name from one address in five minutes; 0: any number",
)
OIDC_ISSUER = env.address(
    "PARTITA_OIDC_ISSUER", "OpenID Connect provider that people may sign in with, as it calls itself"
)
OIDC_CLIENT_ID = env.text("PARTITA_OIDC_CLIENT_ID", "", "What the provider calls this site")
OIDC_CLIENT_SECRET = env.text("PARTITA_OIDC_CLIENT_SECRET", "", "What this site proves it with")
OIDC_NAME = env.text("PARTITA_OIDC_NAME", "single sign-on", "What stands on the button, after Sign in with")
OIDC_GROUPS_CLAIM = env.text("PARTITA_OIDC_GROUPS_CLAIM", "groups", "The claim that lists somebody's groups")
OIDC_GROUPS = env.pairs(
    "PARTITA_OIDC_GROUPS",
    "`group there=group here`, separated by commas; then only those come in who are in one of them",
)
OIDC_LINK_BY_EMAIL = env.flag(
    "PARTITA_OIDC_LINK_BY_EMAIL", False, "A verified address that equals that of one login is that login"
)
if OIDC_ISSUER and not OIDC_CLIENT_ID:
    raise WrongSetting("PARTITA_OIDC_CLIENT_ID must be set where PARTITA_OIDC_ISSUER is")
if OIDC_ISSUER and find_spec("authlib") is None:
    raise WrongSetting("PARTITA_OIDC_ISSUER needs Authlib: install it as requirements.txt pins it")

# The site
TIME_ZONE = env.text(
    "PARTITA_TIME_ZONE", "UTC", "Zone in which pages show instants; everything is stored in UTC"
)

# Database and cache
DATABASES = {
    "default": database(
        DATABASE_URL or f"sqlite:///{quote(str(DATA_DIR / 'partita.sqlite3'))}",
        conn_max_age=env.number(
            "PARTITA_CONN_MAX_AGE",
            60,
            "Seconds for which a thread keeps a database connection that is in order",
        ),
    )
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "partita",
        "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 5},
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
}

# Requests and the API
WEB_THREADS = env.number("PARTITA_WEB_THREADS", 8, "Requests that one web process answers at a time")
WEB_TOKEN_SECONDS = env.number("PARTITA_TOKEN_SECONDS", 86_400, "Life of a token from POST /auth/token")
CLI_TOKEN_SECONDS = env.number("PARTITA_CLI_TOKEN_SECONDS", 3_600, "The same from POST /auth/token/cli")
REQUESTS_PER_MINUTE = env.number(
    "PARTITA_REQUESTS_PER_MINUTE", 60_000, "API requests of one token, login or address; 0: any number"
)
EXTRA_LIMIT = env.number(
    "PARTITA_EXTRA_LIMIT", 64 * 1024, "Bytes of the `extra` of an event, or of the `conf` of a run"
)
API_BODY_LIMIT = env.number(
    "PARTITA_API_BODY_LIMIT", 16 * 1024 * 1024, "Bytes of a request's body that the API reads"
)

# The engine
PARTITION_MAPPER_MAX_DOWNSTREAM_KEYS = env.number(
    "PARTITA_MAX_DOWNSTREAM_KEYS", 1000, "Downstream keys that one upstream key may fan out to"
)
SWEEP_SECONDS = env.seconds(
    "PARTITA_SWEEP_SECONDS", 5, "How often work is looked for that no message announced"
)
TICK_SECONDS = env.seconds("PARTITA_TICK_SECONDS", 1, "How often timetables are asked what is due")
LEASE_SECONDS = env.seconds(
    "PARTITA_LEASE_SECONDS", 60, "How long after the last sign of its worker a Dag run is another worker's"
)
ALIVE_FILE = env.text(
    "PARTITA_ALIVE_FILE", "", "File that a worker or a beat touches as long as it is well; empty: none"
)
RUN_TIME_LIMIT = env.number(
    "PARTITA_RUN_TIME_LIMIT", 86_400, "Seconds after which a worker ends a Dag run for good"
)
SITE_URL = env.text(
    "PARTITA_URL",
    "http://127.0.0.1:8000",
    "Where other systems reach this site: what webhooks are told to call",
)
WEBHOOK_NETWORKS = env.networks(
    "PARTITA_WEBHOOK_NETWORKS",
    "",
    "Networks that webhooks may call besides the public ones, such as `10.0.0.0/8`; `any` for all",
)
ALERT_URL = env.address(
    "PARTITA_ALERT_URL", "Where a POST goes, once, for each held run that becomes late; empty: nowhere"
)
ALERT_SECRET = env.text(
    "PARTITA_ALERT_SECRET", "", "Signs these as a Webhook signs its runs: 8 characters or more"
)
if ALERT_URL and len(ALERT_SECRET) < 8:
    raise WrongSetting("PARTITA_ALERT_SECRET must have 8 characters or more where PARTITA_ALERT_URL is set")
METRICS_OPEN = env.flag(
    "PARTITA_METRICS_OPEN", False, "`/metrics` answers anybody, without a token; else only who may read"
)
FAULT = env.text(
    "PARTITA_FAULT",
    "",
    "Only to test failure: a point at which processes are killed, see `scheduling/fault.py`",
)
KEEP_LOG_DAYS = env.number("PARTITA_KEEP_LOG_DAYS", 90, "Days that the log of a run is kept; 0: for ever")
KEEP_RUN_DAYS = env.number(
    "PARTITA_KEEP_RUN_DAYS", 400, "The same for runs that have ended, but the latest of each partition"
)
KEEP_EVENT_DAYS = env.number(
    "PARTITA_KEEP_EVENT_DAYS", 400, "The same for events, but the latest of each partition"
)
KEEP_JOURNAL_DAYS = env.number("PARTITA_KEEP_JOURNAL_DAYS", 800, "The same for the journal")
WORKERS = env.number("PARTITA_WORKERS", 4, "Dag runs and engine tasks that one worker does at a time")

CELERY_TASK_ANNOTATIONS = {
    "scheduling.execute_run": {"soft_time_limit": RUN_TIME_LIMIT, "time_limit": RUN_TIME_LIMIT + 30}
}
CELERY_WORKER_CONCURRENCY = WORKERS
# The memory transport only looks every `polling_interval`, for as many messages as it may prefetch: with the
# usual second and one message, embedded mode would do four tasks a second.
CELERY_WORKER_PREFETCH_MULTIPLIER = 4 if EMBEDDED else 1
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"polling_interval": 0.02}
    if EMBEDDED
    else {
        "visibility_timeout": 600,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        # Whoever rings a bell is in the middle of a request: when Redis is away, the sweep will do.
        "max_retries": 1,
        "interval_start": 0,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 25,
        "global_keyprefix": "partita:",
    }
)
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "scheduling.sweep", "schedule": SWEEP_SECONDS, "options": {"expires": SWEEP_EXPIRES}},
    "advance ticks": {
        "task": "scheduling.advance_ticks",
        "schedule": TICK_SECONDS,
        "options": {"expires": 60},
    },
    "prune": {"task": "scheduling.prune", "schedule": 3600, "options": {"expires": 3600}},
}

LOG_LEVEL = env.text("PARTITA_LOG_LEVEL", "INFO", "DEBUG, INFO, WARNING or ERROR").upper()
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "partitions_site.tracing.OneLine",
            "format": "{asctime} {levelname:<7} {request_id} {name}: {message}",
            "style": "{",
        }
    },
    "filters": {"without_trace": {"()": "partitions_site.tracing.WithoutTrace"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["without_trace"]}
    },
    "root": {"handlers": ["console"], "level": LOG_LEVEL},
    "loggers": {"celery": {"level": "WARNING"}, "kombu": {"level": "WARNING"}},
}
