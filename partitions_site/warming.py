"""What a web process does before its first request."""

import gc

from django.template import engines
from django.urls import get_resolver


def warm_up() -> None:
    """Load what requests need, and leave it out of all collections of garbage from then on.

    There are a hundred thousand such objects: looking through them holds up a page by a tenth of a second.
    """
    list(get_resolver().url_patterns)
    engines.all()
    gc.collect()
    gc.freeze()
