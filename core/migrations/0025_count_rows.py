"""Lets PostgreSQL count events, runs and journal entries as they come and go: see `core/models/counts.py`.

Whoever writes to one of these tables waits while its rows are counted.
"""

from django.db import migrations, transaction

COUNTED = {
    # Table that is counted: where to, what rows have in common, instants, and those that may be lacking.
    "core_assetevent": ("core_eventcount", ("asset_id",), ("timestamp",), ()),
    "core_dagrun": (
        "core_runcount",
        ("dag_id", "run_type", "state"),
        ("run_after", "updated_at"),
        ("started_at", "ended_at"),
    ),
    "core_journalentry": ("core_entrycount", ("dag_id", "event"), ("at",), ()),
}
BLOCK = 10_000
TRIGGERS = ("added", "removed", "changed", "emptied")


def count(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for table in COUNTED:
            with transaction.atomic(schema_editor.connection.alias):  # waits for one table at a time
                count_rows(schema_editor, table, *COUNTED[table])


def count_rows(schema_editor, table, into, alike, always, perhaps):
    """Let triggers count what comes, and count what is there: in one transaction, so that nothing is missed."""
    columns = ", ".join(["block", *alike, *(f"{at}_{end}" for at in always + perhaps for end in ("from", "to"))])
    keys = ", ".join([f"id / {BLOCK}", *alike])
    reached = ", ".join(
        [f"min({at}), max({at})" for at in always]
        + [f"min(coalesce({at}, '-infinity')), max(coalesce({at}, 'infinity'))" for at in perhaps]
    )
    nothing = ", ".join(["'infinity'::timestamptz, '-infinity'::timestamptz"] * len(always + perhaps))
    old, new = (", ".join([f"{row}.id / {BLOCK}", *(f"{row}.{name}" for name in alike)]) for row in ("OLD", "NEW"))
    instants = ", ".join(
        [f"NEW.{at}, NEW.{at}" for at in always]
        + [f"coalesce(NEW.{at}, '-infinity'), coalesce(NEW.{at}, 'infinity')" for at in perhaps]
    )
    told = alike + always + perhaps
    differs = " OR ".join(f"OLD.{name} IS DISTINCT FROM NEW.{name}" for name in told)
    insert = f'INSERT INTO {into} ({columns}, "rows")'
    bodies = {
        "added": f"{insert} SELECT {keys}, {reached}, count(*) FROM added GROUP BY {keys};",
        "removed": f"{insert} SELECT {keys}, {nothing}, -count(*) FROM removed GROUP BY {keys};",
        "changed": f"{insert} VALUES ({old}, {nothing}, -1), ({new}, {instants}, 1);",
        "emptied": f"LOCK TABLE {into} IN SHARE ROW EXCLUSIVE MODE; DELETE FROM {into};",  # not while some are added up
    }
    events = {
        "added": f"AFTER INSERT ON {table} REFERENCING NEW TABLE AS added FOR EACH STATEMENT",
        "removed": f"AFTER DELETE ON {table} REFERENCING OLD TABLE AS removed FOR EACH STATEMENT",
        "changed": f"AFTER UPDATE OF {', '.join(told)} ON {table} FOR EACH ROW WHEN ({differs})",
        "emptied": f"AFTER TRUNCATE ON {table} FOR EACH STATEMENT",
    }
    for name in TRIGGERS:
        function = f"{into}_{name}()"
        schema_editor.execute(
            f"CREATE OR REPLACE FUNCTION {function} RETURNS trigger LANGUAGE plpgsql AS "
            f"$count$ BEGIN {bodies[name]} RETURN NULL; END $count$"
        )
        schema_editor.execute(f"CREATE OR REPLACE TRIGGER {into}_{name} {events[name]} EXECUTE FUNCTION {function}")
    # Now nobody else can write until this transaction ends. One that was stopped half-way begins anew.
    schema_editor.execute(f"DELETE FROM {into}")
    schema_editor.execute(
        f'{insert[:-1]}, is_change) SELECT {keys}, {reached}, count(*), false FROM {table} GROUP BY {keys}'
    )


def count_no_more(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    for table, (into, *_) in COUNTED.items():
        for name in TRIGGERS:
            schema_editor.execute(f"DROP TRIGGER IF EXISTS {into}_{name} ON {table}")
            schema_editor.execute(f"DROP FUNCTION IF EXISTS {into}_{name}()")


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('core', '0024_counts'),
    ]

    operations = [
        migrations.RunPython(count, count_no_more),
    ]
