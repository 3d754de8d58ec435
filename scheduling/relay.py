"""Carries rung bells from the database to a broker that lives in the memory of this process.

Other processes cannot reach such a broker: they leave a row per bell (`doorbell`), and the relay takes it
away. Rows are taken in one transaction, so a bell that is rung meanwhile stays for the next look.
"""

from collections.abc import Callable

from django.db import connection, transaction

from core.models import Bell


def take_bells() -> list[str]:
    """Remove the bells that are rung and return their names, first rung first.

    When none is, it only reads: on SQLite a transaction would keep every writer waiting.
    """
    if not Bell.objects.exists():
        return []
    with transaction.atomic():
        names = list(Bell.objects.order_by("rung_at", "name").values_list("name", flat=True))
        Bell.objects.filter(name__in=names).delete()
    return names


def change_detector() -> Callable[[], bool]:
    """A function that tells whether another connection may have written since it was last asked.

    It asks SQLite for a counter, which costs microseconds. Other databases have none: there it always
    says yes.
    """
    if connection.vendor != "sqlite":
        return lambda: True
    seen: list[int] = []

    def changed() -> bool:
        version = _version()
        if seen == [version]:
            return False
        seen[:] = [version]
        return True

    return changed


def _version() -> int:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA data_version")
        return int(cursor.fetchone()[0])
