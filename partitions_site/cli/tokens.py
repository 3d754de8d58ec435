"""`partita tokens`: what programs come in with: whose it is, what for, when it was used last."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from datetime import timedelta

from partitions_site import tokens
from partitions_site.cli.names import called
from partitions_site.cli.parsing import NotFound, Spoken, add_deeds, deed, find_login, now
from partitions_site.cli.replies import Reply, done, none_of, shown, table
from partitions_site.models import ApiToken

COLUMNS = {
    "id": "TOKEN",
    "owner": "OWNER",
    "name": "FOR",
    "scope": "SCOPE",
    "last_used_at": "LAST USED",
    "expires_at": "LIVES UNTIL",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--owner", metavar="LOGIN", help="those of this login")
    parser.set_defaults(do=_list)
    made = add_deeds(
        parser,
        Spoken("make", "make one; it is printed this once", _make, is_deed=True),
        Spoken("revoke", "end one at once", _revoke, is_deed=True),
    )
    made["make"].add_argument("owner", metavar="LOGIN")
    made["make"].add_argument("name", metavar="NAME", help="what it is for")
    made["make"].add_argument("--scope", choices=ApiToken.Scope.values, default=ApiToken.Scope.READ.value)
    made["make"].add_argument("--days", type=_days, metavar="N", help="days it lives; else until revoked")
    made["revoke"].add_argument("id", metavar="TOKEN", help="its first letters, as the list has them")


def _list(given: Namespace) -> Reply:
    rows = tokens.of(find_login(given.owner)) if given.owner else tokens.everybodys()
    return table([_row(each) for each in rows], COLUMNS, none_of("tokens", given.owner))


def _make(given: Namespace) -> Reply:
    life = timedelta(days=given.days) if given.days else None
    owner, name = find_login(given.owner), given.name[: tokens.LONGEST_NAME]
    row, secret = tokens.make(owner, name, scope=given.scope, life=life, deed=deed(given), at=now())
    return Reply(_row(row) | {"token": secret}, [secret])


def _revoke(given: Namespace) -> Reply:
    row = tokens.everybodys().filter(token_key=given.id).first()
    if row is None:
        raise NotFound(f"no token begins with {given.id}: `{called()} tokens` lists them")
    told = _row(row)
    tokens.revoke(row, deed=deed(given), at=now())
    return done(f"{row.name or given.id} of {told['owner']} is revoked", told)


def _days(text: str) -> int:
    if not (text.isdecimal() and 0 < int(text) <= tokens.MOST_DAYS):
        raise ArgumentTypeError(f"write a number of days from 1 to {tokens.MOST_DAYS}, not {text!r}")
    return int(text)


def _row(row: ApiToken) -> dict[str, object]:
    return {
        "id": row.token_key,
        "owner": row.user.get_username(),
        "name": row.name,
        "scope": row.scope,
        "created_at": shown(row.created),
        "last_used_at": shown(row.last_used_at),
        "expires_at": shown(row.expiry),
    }
