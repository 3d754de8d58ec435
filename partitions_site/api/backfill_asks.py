"""What a request asks to be backfilled: by dates, as Airflow has it, or by selection, keys and states."""

from datetime import datetime

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request

from core.models import Backfill, Dag
from partitions_site.api.auth import check_may
from partitions_site.api.dags import find_dag
from partitions_site.api.errors import BadRequest, Conflict, Invalid, Unprocessable, problem
from partitions_site.api.fields import Extra, Flag, Instant, OneOf, PartitionKey, Text, Whole
from partitions_site.api.forms import Form, Read, read_body
from scheduling import backfills
from scheduling.backfills import Ask, Dates, Order, Reprocess, Wanted
from scheduling.journal import Deed

MOST_KEYS = 10_000
"""Keys that one request may name."""

STATES = {wanted.value.replace(" ", "_"): wanted for wanted in Wanted}
BACKFILL = "core.add_backfill"
OURS = ("selection", "partition_keys", "states")


class BackfillIn(Form):
    """What to backfill.

    `dag_id`, `from_date` and `to_date` are Airflow's. In place of the dates may stand a typed `selection`,
    `partition_keys`, or `states` alone.
    """

    dag_id = Text(required=False)
    dag_ids = serializers.ListField(child=Text(), required=False, min_length=1, max_length=100)
    from_date = Instant(required=False, help_text="The first partition date, included")
    to_date = Instant(required=False, help_text="The last one, included unless `end_exclusive`")
    selection = Text(required=False, help_text="Such as `[2026-03-01...2026-03-10], 2026-04-01`")
    partition_keys = serializers.ListField(
        child=PartitionKey(), required=False, min_length=1, max_length=MOST_KEYS
    )
    states = OneOf(choices=list(STATES), required=False, help_text="Only keys that are in such a state")
    end_exclusive = Flag(required=False, default=False)
    run_backwards = Flag(required=False, default=False, help_text="The newest first")
    chained = Flag(required=False, default=False, help_text="Each key after the one before it is done")
    reprocess_behavior = OneOf(choices=Reprocess.values, required=False, allow_null=True)
    max_active_runs = Whole(required=False, default=10, min_value=1, max_value=10_000)
    keys_per_run = Whole(
        required=False,
        default=1,
        allow_null=True,
        min_value=1,
        max_value=MOST_KEYS,
        help_text="Null: one run takes all keys",
    )
    with_upstream = Flag(
        required=False, default=False, help_text="Backfill first the upstream keys that are missing"
    )
    with_downstream = Flag(required=False, default=False, help_text="Backfill what listens as well")
    dag_run_conf = Extra(required=False, allow_null=True)
    title = Text(required=False, allow_null=True, max_length=250)
    plan = Text(required=False, allow_null=True, help_text="The `plan` of a dry run: start just that")
    run_on_latest_version = Flag(
        required=False, allow_null=True, help_text="Read and not kept: runs take the latest definition"
    )


def read_ask(request: Request) -> tuple[Ask, str | None]:
    """What the body asks for, and the plan that was shown for it.

    :raises Invalid: if it does not fit.
    :raises NotFound: if there is no such Dag.
    :raises Unprocessable: for dates of a Dag that has none, as Airflow does.
    """
    asked = read_body(BackfillIn, request)
    dags = _dags(asked, request)
    dates = _dates(asked, dags, request)
    ask = Ask(
        dags=dags,
        selection=asked.get("selection"),
        keys=tuple(asked["partition_keys"]) if "partition_keys" in asked else None,
        dates=dates,
        end_exclusive=asked["end_exclusive"],
        wanted=STATES[asked.get("states", "all")],
        reprocess=Reprocess(asked["reprocess_behavior"]) if asked.get("reprocess_behavior") else None,
        order=Order.NEWEST if asked["run_backwards"] else Order.OLDEST,
        is_chained=asked["chained"],
        keys_per_run=asked["keys_per_run"],
        max_active_runs=asked["max_active_runs"],
        with_upstream=asked["with_upstream"],
        with_downstream=asked["with_downstream"],
        conf=asked.get("dag_run_conf") or {},
        title=asked.get("title") or "",
    )
    return ask, asked.get("plan")


def check_free(ask: Ask) -> None:
    """As in Airflow, a Dag that is backfilled by dates has one backfill at a time.

    :raises Conflict: if one is open.
    """
    if ask.dates is not None:
        for dag in ask.dags:
            if Backfill.objects.open().filter(targets__dag=dag, cancelled_at=None).exists():
                raise Conflict(f"There is already a running backfill for dag {dag}")


def check_reach(request: Request, ask: Ask) -> str | None:
    """A backfill takes along what feeds it, or listens, only where whoever asks may backfill that, too.

    :returns: the plan that was looked at for it, if there was need; only that one may start.
    :raises PermissionDenied: if it would take others along.
    """
    if not (ask.with_upstream or ask.with_downstream) or request.user.has_perm(BACKFILL):
        return None
    plan = backfills.plan(ask, now=timezone.now())
    for part in plan.parts:
        check_may(request, part.dag, BACKFILL)
    return plan.token()


def started(ask: Ask, shown: str | None, *, deed: Deed, at: datetime) -> Backfill:
    """Start what was asked for.

    :raises Unprocessable: if its dates mean no key, as Airflow says it.
    """
    if ask.dates is not None and not any(part.order for part in backfills.plan(ask, now=at).parts):
        span = f"{ask.dates.first}, {ask.dates.last}"
        raise Unprocessable(f"No runs to create for Dag {ask.dags[0]} in the range [{span}]")
    return backfills.start(ask, deed=deed, at=at, shown=shown)


def _dags(asked: Read, request: Request) -> tuple[Dag, ...]:
    if ("dag_id" in asked) == ("dag_ids" in asked):
        if "dag_id" in asked:
            raise BadRequest("Give dag_id or dag_ids, not both")
        raise Invalid([problem("missing", ["body", "dag_id"], "Field required", request.data)])
    names = dict.fromkeys(asked.get("dag_ids") or [asked["dag_id"]])
    return tuple(find_dag(request, name) for name in names)


def _dates(asked: Read, dags: tuple[Dag, ...], request: Request) -> Dates | None:
    given = {"from_date", "to_date"} & asked.keys()
    if not given and any(name in asked for name in OURS):
        return None
    if len(given) < 2:
        missing = [name for name in ("from_date", "to_date") if name not in given]
        raise Invalid(problem("missing", ["body", name], "Field required", request.data) for name in missing)
    for dag in dags:
        if not dag.is_periodic or not dag.is_partitioned:
            raise Unprocessable(f"{dag} has a non-periodic schedule that does not support backfills")
    if asked["from_date"] > asked["to_date"]:
        raise Unprocessable("from_date must not be later than to_date")
    return Dates(asked["from_date"], asked["to_date"], asked["end_exclusive"])
