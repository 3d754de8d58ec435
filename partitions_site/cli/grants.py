"""`partita grants`: who has which role for which group of assets."""

from argparse import ArgumentParser, Namespace

from django.contrib.auth.models import Group

from partitions_site import granting
from partitions_site.cli.names import called
from partitions_site.cli.parsing import NotFound, Spoken, add_deeds, add_limit, deed, find_login, now, number
from partitions_site.cli.replies import Reply, done, none_of, table
from partitions_site.models import Grant

COLUMNS = {"id": "GRANT", "asset_group": "ASSETS OF", "role": "ROLE", "user": "LOGIN", "team": "TEAM"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--group", metavar="GROUP", help="those for this group of assets")
    parser.add_argument("--login", metavar="LOGIN", help="those that this login has, by its teams too")
    add_limit(parser)
    parser.set_defaults(do=_list)
    made = add_deeds(
        parser,
        Spoken("give", "grant a role for one group of assets", _give, is_deed=True),
        Spoken("take", "take one back", _take, is_deed=True),
    )
    made["give"].add_argument("role", metavar="ROLE", choices=Grant.Role.values)
    made["give"].add_argument("group", metavar="GROUP", help="the group of assets")
    to = made["give"].add_mutually_exclusive_group(required=True)
    to.add_argument("--login", metavar="LOGIN", help="to this login")
    to.add_argument("--team", metavar="TEAM", help="to all of this Django group")
    made["take"].add_argument("id", type=number, metavar="GRANT")


def _list(given: Namespace) -> Reply:
    rows = granting.of(find_login(given.login)) if given.login else granting.everybodys()
    found = rows.filter(asset_group=given.group) if given.group else rows
    ordered = found.order_by("asset_group", "id")[: given.limit]
    return table([_row(each) for each in ordered], COLUMNS, none_of("grants", given.group, given.login))


def _give(given: Namespace) -> Reply:
    to = find_login(given.login) if given.login else _team(given.team)
    grant, is_new = granting.give(to, given.role, given.group, deed=deed(given), at=now())
    return done(f"{grant}{'' if is_new else ', as before'}", _row(grant) | {"is_new": is_new})


def _take(given: Namespace) -> Reply:
    grant = granting.everybodys().filter(pk=given.id).first()
    if grant is None:
        raise NotFound(f"no grant has the number {given.id}: `{called()} grants` lists them")
    told = _row(grant)
    granting.take(grant, deed=deed(given), at=now())
    return done(f"{grant} is taken back", told)


def _team(name: str) -> Group:
    found = Group.objects.filter(name=name).first()
    if found is None:
        known = ", ".join(Group.objects.order_by("name").values_list("name", flat=True))
        raise NotFound(f"no team is called {name}; there are: {known}")
    return found


def _row(grant: Grant) -> dict[str, object]:
    return {
        "id": grant.pk,
        "asset_group": grant.asset_group,
        "role": grant.role,
        "user": grant.user.get_username() if grant.user else None,
        "team": grant.team.name if grant.team else None,
    }
