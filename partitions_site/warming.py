"""What web does before its first request, and a worker before its first task."""

import gc

from django.template import engines
from django.urls import get_resolver

NEW_OBJECTS = 20_000
"""How many more objects there are before the youngest are looked through; Python itself takes 700."""


def warm_up() -> None:
    """Load what requests need, and leave it alone."""
    list(get_resolver().url_patterns)
    engines.all()
    leave_alone()


def leave_alone() -> None:
    """Leave what is loaded by now out of all collections of garbage, and collect less often.

    There are a hundred thousand such objects: looking through them holds up a page by a tenth of a second.
    And whoever maps thousands of events makes a hundred objects for each, which are all needed until the
    end: with Python's own threshold a third of the time goes to looking whether one is not.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, 20, 20)
