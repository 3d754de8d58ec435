"""The Celery application: all of its options are the `CELERY_` names of the settings."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "partitions_site.settings")

app = Celery("partita")
app.config_from_object("django.conf:settings", namespace="CELERY")
# Threads of the web server publish too, and `current_app` is kept per thread unless there is a default.
app.set_default()
app.autodiscover_tasks()
