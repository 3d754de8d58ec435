"""Writes that may be sent twice and happen once: those with an `Idempotency-Key`.

1. The key is written in the transaction of the write itself. Whoever comes second waits for it, and finds it.
2. What was answered is kept for a day and answered again, with `Idempotency-Replayed: true`.
3. A write that was refused keeps nothing: it may be sent again under the same key.
"""

import json
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from hashlib import sha256
from typing import Any, cast

from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from core import locks
from partitions_site.api.errors import Invalid, Unprocessable, problem
from partitions_site.models import GivenAnswer
from scheduling.events import MOST_UNDONE

KEPT = timedelta(days=1)
LONGEST = 250

HEADER = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="Repeated within a day with the same key: the first answer again, and nothing happens",
)

Method = Callable[..., Response]


def once(method: Method) -> Method:
    """A method that writes, so that a repeated request with an `Idempotency-Key` changes nothing more."""

    @wraps(method)
    def guarded(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = asked_key(request)
        if key is None:
            return method(view, request, *args, **kwargs)
        return _unless_undone(lambda: _once(request, key, lambda: method(view, request, *args, **kwargs)))

    return guarded


def asked_key(request: Request) -> str | None:
    """:raises Invalid: for a key that is empty, too long, or not printable."""
    given = request.headers.get("Idempotency-Key")
    if given is not None and not (0 < len(given) <= LONGEST and given.isprintable()):
        words = f"String should have 1 to {LONGEST} printable characters"
        raise Invalid([problem("string_type", ["header", "Idempotency-Key"], words, given)])
    return given


def _unless_undone(write: Callable[[], Response]) -> Response:
    """Whoever writes inside our transaction cannot begin it anew when the database has undone it: we do."""
    undone = 0
    while True:
        try:
            return write()
        except OperationalError as error:
            undone += 1
            if not locks.was_undone(error) or undone > MOST_UNDONE or connection.in_atomic_block:
                raise


def _once(request: Request, key: str, write: Callable[[], Response]) -> Response:
    with transaction.atomic():
        row, is_new = _row(request, key)
        if not is_new:
            return _again(row, _digest(request))
        response = write()
        row.status, row.body = response.status_code, response.data
        row.save(update_fields=["status", "body"])
    return response


def _row(request: Request, key: str) -> tuple[GivenAnswer, bool]:
    now = timezone.now()
    GivenAnswer.objects.filter(given_at__lt=now - KEPT).delete()
    return GivenAnswer.objects.get_or_create(
        user=cast(User, request.user), key=key, defaults={"request": _digest(request), "given_at": now}
    )


def _again(row: GivenAnswer, digest: str) -> Response:
    if row.request != digest:
        raise Unprocessable("This Idempotency-Key was used for another request: choose a new one")
    return Response(row.body, status=row.status, headers={"Idempotency-Replayed": "true"})


def _digest(request: Request) -> str:
    asked = [request.method, request.get_full_path(), request.data]
    return sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()
