"""Grants given and taken: roles for one group of assets. The journal says by whom.

Every face asks this: Administration, the API, the command line.
"""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Q, QuerySet

from core.models import Asset
from partitions_site.models import Grant
from scheduling import journal
from scheduling.algebra.errors import PartitionError
from scheduling.journal import Deed

SEE_ALL, GIVE, TAKE = (f"partitions_site.{each}_grant" for each in ("view", "add", "delete"))


class NoSuchGroup(PartitionError):
    """No asset is of the group that a role was to be granted for."""


@transaction.atomic
def give(to: User | Group, role: str, asset_group: str, *, deed: Deed, at: datetime) -> tuple[Grant, bool]:
    """Grant `role` for a group of assets; says also whether it is new: one that there is stays as it is.

    :raises NoSuchGroup: for a group that no asset is of.
    """
    if asset_group not in groups():
        known = ", ".join(groups()) or "none"
        raise NoSuchGroup(f"no asset is of the group {asset_group!r}; there are: {known}")
    holder = {"user": to} if isinstance(to, User) else {"team": to}
    grant, is_new = Grant.objects.get_or_create(**holder, role=role, asset_group=asset_group)
    if is_new:
        note("grant given", grant, deed=deed, at=at)
    return grant, is_new


@transaction.atomic
def take(grant: Grant, *, deed: Deed, at: datetime) -> None:
    """What it granted is not granted any more, with the next request."""
    note("grant taken", grant, deed=deed, at=at)
    grant.delete()


def note(event: str, grant: Grant, *, deed: Deed, at: datetime) -> None:
    said: Any = {"to": str(grant.user or grant.team), "role": grant.role, "asset_group": grant.asset_group}
    journal.note(event, deed=deed, at=at, **said)


def groups() -> list[str]:
    """The groups that assets are of."""
    return sorted(set(Asset.objects.order_by().values_list("group", flat=True).distinct()))


def everybodys() -> "QuerySet[Grant]":
    return Grant.objects.select_related("user", "team")


def of(user: User) -> "QuerySet[Grant]":
    """What `user` has been granted, by themselves or as one of a team."""
    return everybodys().filter(Q(user=user) | Q(team__in=user.groups.all()))
