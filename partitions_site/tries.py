"""How often somebody may try to sign in: kept in the database, so that it holds over processes.

A try is counted before the password is looked at, so that many at once do not slip through, and taken back
when it was right. What is counted: tries of one name from one address, from one address, and at one name. The
last is generous: whoever knows a name must not be able to keep its owner out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from math import ceil

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.http import HttpRequest

from partitions_site.models import SignInTries
from scheduling.algebra.phrases import some

SPAN = timedelta(minutes=5)
FROM_ADDRESS, AT_NAME = 10, 40
"""How many times as many tries one address has, and one name, as one name from one address."""


class TooManyTries(Exception):
    """Nobody may try this for `seconds` more."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"Too many failed sign-ins: try again in {some(seconds, 'second')}")
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt to sign in as `name` from `address`."""

    name: str
    address: str

    def limits(self) -> Mapping[str, int]:
        """What is counted, by a digest: neither names nor addresses are kept."""
        few = settings.SIGN_IN_TRIES
        name = self.name.casefold()[:250]
        return {
            _digest("pair", name, self.address): few,
            _digest("address", self.address): few * FROM_ADDRESS,
            _digest("name", name): few * AT_NAME,
        }


def address_of(request: HttpRequest) -> str:
    """Where a request comes from: what the outermost of our own proxies has seen.

    What stands further left in `X-Forwarded-For` anybody can have written.
    """
    hops = [each.strip() for each in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")]
    count = settings.PROXIES
    return hops[-count] if 0 < count <= len(hops) else request.META.get("REMOTE_ADDR", "")


@transaction.atomic
def count(attempt: Try, *, at: datetime) -> None:
    """Count an attempt that is about to be made.

    :raises TooManyTries: if there were too many; this one is then not made.
    """
    limits = attempt.limits() if settings.SIGN_IN_TRIES else {}
    SignInTries.objects.filter(began_at__lte=at - SPAN).delete()
    # Rows first: of tries at the same moment, one that finds no row to lock would not wait for the others.
    new = [SignInTries(digest=each, count=0, began_at=at) for each in sorted(limits)]
    SignInTries.objects.bulk_create(new, ignore_conflicts=True)
    rows = SignInTries.objects.filter(digest__in=limits).select_for_update(no_key=True).order_by("digest")
    waits = [row.began_at + SPAN - at for row in rows if row.count >= limits[row.digest]]
    if waits:
        raise TooManyTries(max(1, ceil(max(waits).total_seconds())))
    SignInTries.objects.filter(digest__in=limits).update(count=F("count") + 1)


@transaction.atomic
def forgive(attempt: Try) -> None:
    """It was right: take it back, and forget the wrong ones before it of the same name from there."""
    pair, *others = attempt.limits()
    SignInTries.objects.filter(digest=pair).delete()
    SignInTries.objects.filter(digest__in=others, count__gt=0).update(count=F("count") - 1)


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
