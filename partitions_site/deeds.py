"""What the journal says of a deed that is done in a request: who does it, how, why, and in which request."""

from django.http import HttpRequest
from rest_framework.request import Request

from partitions_site import tracing
from scheduling.journal import Deed


def deed_of(request: HttpRequest | Request, via: str, reason: str = "") -> Deed:
    """The deed of whoever has signed in, through the face `via`."""
    name = tracing.current()
    return Deed(request.user.get_username(), via, reason, "" if name == tracing.NO_REQUEST else name)
