"""The web application for ASGI servers (uvicorn, gunicorn -k asgi)."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "partitions_site.settings")

application = get_asgi_application()
