"""Who may do what: four groups, each with the rights of those before it.

Whoever has signed in may read. Groups are made when the database is migrated; rights that an installation
adds to them stay, rights named here come back.
"""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.db.models import Q

VIEWER, OPERATOR, EDITOR, ADMIN = "viewer", "operator", "editor", "admin"

GRANTS: dict[str, tuple[str, ...]] = {
    VIEWER: ("core.view_*",),
    OPERATOR: (
        "core.add_assetevent",
        "core.add_backfill",
        "core.change_backfill",
        "core.add_dagrun",
        "core.change_dagrun",
        "core.change_heldrun",
        "core.change_dag",
        "core.add_dynamickey",
        "core.change_dynamickey",
        "core.change_sensor",
    ),
    EDITOR: (
        "core.change_dependency",
        "core.change_asset",
        "core.delete_assetevent",
        "core.delete_dagrun",
        "core.delete_partition",
        "core.add_pool",
        "core.change_pool",
        "core.delete_pool",
    ),
    ADMIN: ("core.*", "auth.*", "partitions_site.*"),
}
"""The rights that each role adds; a `*` stands for any ending."""

WORDS: dict[str, str] = {
    VIEWER: "Looks at everything, and changes nothing.",
    OPERATOR: "Also records events, triggers Dags, runs again, marks and cancels runs, fires and cancels held"
    " runs, backfills, pauses Dags and sensors, and adds and removes keys.",
    EDITOR: "Also takes data and events back, deletes runs, and makes and changes pools.",
    ADMIN: "Also changes how Dags listen, and says who comes in and what they may.",
}
"""What each role may do, for people; each may do what those before it may."""


def ensure_roles(using: str = "default", **_: Any) -> None:
    """Make the four groups and give each what `GRANTS` says it has."""
    wanted = Q(pk__in=[])
    for role, grants in GRANTS.items():
        for grant in grants:
            wanted |= _named(grant)
        group, _new = Group.objects.using(using).get_or_create(name=role)
        group.permissions.add(*Permission.objects.using(using).filter(wanted))


def _named(grant: str) -> Q:
    app, _, codename = grant.partition(".")
    ending = {"codename__startswith": codename[:-1]} if codename.endswith("*") else {"codename": codename}
    return Q(content_type__app_label=app, **ending)
