"""What is the same in every installation: of what the site is made, and how its parts are set."""

from pathlib import Path

VERSION = "0.1.0"
BASE_DIR = Path(__file__).resolve().parent.parent

# The application
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "core",
    "scheduling",
    "partitions_site",
]
MIDDLEWARE = [
    "partitions_site.tracing.RequestId",
    "django.middleware.security.SecurityMiddleware",
    "partitions_site.middleware.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "partitions_site.programs.Sessions",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "partitions_site.programs.SignedIn",
    "partitions_site.programs.Messages",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "partitions_site.programs.Htmx",
]
ROOT_URLCONF = "partitions_site.urls"
APPEND_SLASH = False
ASGI_APPLICATION = "partitions_site.asgi.application"
WSGI_APPLICATION = "partitions_site.wsgi.application"
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
                "partitions_site.middleware.csp_nonce",
            ]
        },
    }
]
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # files are served from where they lie: nothing to collect before a start
LANGUAGE_CODE = "en-gb"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Who may come in
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL
AUTHENTICATION_BACKENDS = ["partitions_site.credentials.Backend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]
X_FRAME_OPTIONS = "DENY"
SECURE_REDIRECT_EXEMPT = [r"^(livez|readyz|metrics)$"]  # asked from inside, where there is no proxy
# Whether neighbouring host names speak https, too, only their owner knows.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]

# The API
REST_FRAMEWORK = {
    # Every address states its own (see api/auth.py); one that forgot to is closed.
    "DEFAULT_AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAdminUser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "partitions_site.api.errors.answer",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Partita",
    "DESCRIPTION": "Assets and their partitions, held runs, Dag runs. Scripts for Airflow's API work here.",
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": [],
    "SCHEMA_PATH_PREFIX": "/api/v2",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {"SettableStateEnum": ("queued", "success", "failed")},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "partitions_site.api.schema.say_when_to_come_back",
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
KNOX_TOKEN_MODEL = "partitions_site.ApiToken"  # noqa: S105  (the name of a model)
# Its own migrations make a table for the model that ours replaces, which nothing reads or empties.
MIGRATION_MODULES = {"knox": None}
REST_KNOX = {"TOKEN_PREFIX": "pt_", "TOKEN_TTL": None}

# The engine
CELERY_TASK_DEFAULT_QUEUE = "engine"
CELERY_TASK_ROUTES = {
    "scheduling.execute_run": {"queue": "work"},
    "scheduling.look": {"queue": "work"},
    # Another system may take its time to answer: the engine does not wait for it.
    "scheduling.send_alerts": {"queue": "work"},
}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SOFT_TIME_LIMIT, CELERY_TASK_TIME_LIMIT = 240, 270
CELERY_WORKER_MAX_TASKS_PER_CHILD = 1000
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"  # intervals only: there is nothing to remember in a file
SWEEP_EXPIRES = 60  # seconds; the age of a message of beat is read from this
CELERY_TIMEZONE = "UTC"
