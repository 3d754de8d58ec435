"""The web application for WSGI servers; pages that stream need ASGI."""

import os

from django.core.wsgi import get_wsgi_application

from partitions_site.warming import warm_up

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "partitions_site.settings")

application = get_wsgi_application()
warm_up()
