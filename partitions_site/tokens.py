"""Personal tokens: made and revoked by their owners, looked after by admins. The journal says by whom.

Every face asks this: pages, the API, the command line.
"""

from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from partitions_site.models import ApiToken
from scheduling import journal
from scheduling.journal import Deed

SEE_ALL, REVOKE_ALL = "partitions_site.view_apitoken", "partitions_site.delete_apitoken"
MOST_DAYS, LONGEST_NAME = 3650, 100


@transaction.atomic
def make(
    owner: User, name: str, *, scope: str, life: timedelta | None, deed: Deed, at: datetime
) -> tuple[ApiToken, str]:
    """A token of `owner`, and the token itself: nobody can tell it again.

    :param life: how long it lives; none: until it is revoked.
    """
    row, secret = ApiToken.objects.create(user=owner, expiry=life, name=name, scope=scope)
    _note("token made", row, deed, at, scope=row.scope)
    return row, secret


@transaction.atomic
def revoke(row: ApiToken, *, deed: Deed, at: datetime) -> None:
    """End a token at once."""
    _note("token revoked", row, deed, at)
    row.delete()


def of(user: User) -> "QuerySet[ApiToken]":
    """The personal tokens of `user`, oldest first."""
    return everybodys().filter(user=user)


def everybodys() -> "QuerySet[ApiToken]":
    found: QuerySet[ApiToken] = ApiToken.objects.filter(kind=ApiToken.Kind.PERSONAL).select_related("user")
    return found.order_by("created", "pk")


def revocable_by(user: User) -> "QuerySet[ApiToken]":
    """Those that `user` may end: their own, and everybody's with the right to."""
    return everybodys() if user.has_perm(REVOKE_ALL) else of(user)


def _note(event: str, row: ApiToken, deed: Deed, at: datetime, **more: Any) -> None:
    owner = row.user.get_username()
    if owner != deed.by:
        more["owner"] = owner
    journal.note(event, deed=deed, at=at, token=row.token_key, name=row.name, **more)
