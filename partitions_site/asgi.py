"""The web application for ASGI servers (uvicorn, gunicorn -k asgi)."""

import os

import django
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "partitions_site.settings")
django.setup(set_prefix=False)

from partitions_site.threaded import Threaded  # noqa: E402  (needs the settings)
from partitions_site.warming import warm_up  # noqa: E402

application = Threaded(settings.WEB_THREADS)
warm_up()
