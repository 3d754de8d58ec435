"""Executes a claimed run: its tasks in order, their log kept, its end recorded with what they wrote.

Or sends it to the webhook that its Dag has instead (`webhooks`).
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from inspect import Parameter, signature
from typing import Any

from django.db import transaction

from core.models import Asset, DagRun
from scheduling import (
    claims,
    definitions,
    dynamic,
    fault,
    inlets,
    lease,
    requeueing,
    retries,
    timeouts,
    unloadable,
    webhooks,
)
from scheduling.algebra.errors import PartitionError
from scheduling.authoring.attempts import Attempts
from scheduling.authoring.context import RunCancelled, RunFacts, RunTimedOut
from scheduling.authoring.dags import DAG
from scheduling.authoring.executors import Webhook, executor_of
from scheduling.authoring.outlets import OutletEvents
from scheduling.authoring.tasks import Step, filled
from scheduling.authoring.terms import ordered
from scheduling.claims import LeaseLost, Output
from scheduling.definitions import CannotLoad
from scheduling.lease import Lease
from scheduling.runlog import Clock, RunLog, capturing
from scheduling.traces import trace_of

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Work:
    """A run being executed. `results` and `written`: what each step returned, and says of its outlets.

    `failed_keys`: those of the run that its tasks gave up. `attempts`: how often to try the step under way.
    """

    run: DagRun
    lease: Lease
    lines: RunLog
    clock: Clock
    results: dict[str, Any] = field(default_factory=dict)
    written: dict[str, OutletEvents] = field(default_factory=dict)
    failed_keys: dict[str, str] = field(default_factory=dict)
    attempts: Attempts | None = None


def execute(run: DagRun, *, clock: Clock) -> None:
    """Run the tasks of `run`, which this worker has claimed, and end it.

    A task that raises ends the attempt, with the traceback in its error and its log; tasks after it do not
    run, and no event is emitted. The run has failed then, or is tried again later. A cancelled run stops
    before its next task, or where the task asks, and so does one that has taken too long (`timeouts`).
    One whose file cannot be loaded waits for it, and nothing has happened to it (`unloadable`).
    Whoever lost the lease meanwhile records nothing.
    """
    lines = RunLog(run, clock)
    with lease.keeping(run, lines, clock) as kept:
        end = _end_of(Work(run, kept, lines, clock))
    lines.flush()
    try:
        end(clock())
    except LeaseLost as lost:
        log.warning("%s", lost)


def _end_of(work: Work) -> Callable[[datetime], None]:
    """Do the work; returns how to record its end.

    What the engine itself asks of the database is no part of the attempt: where that fails, the lease ends.
    """
    run, source = work.run, work.run.dag.source
    try:
        dag = definitions.authored(run.dag)
    except CannotLoad as failure:
        return partial(_put_off, run, str(failure))
    except Exception as error:
        return _failing(work, error)
    if source:
        unloadable.note_loaded([source])
    return _work_through(dag, work)


def _work_through(dag: DAG, work: Work) -> Callable[[datetime], None]:
    run = work.run
    try:
        executor = executor_of(dag.executor)
        if isinstance(executor, Webhook):
            return webhooks.deliver(executor, run, work.lines, work.clock)
        for step in ordered(dag.steps.values()):
            _take_step(step, work)
        outputs = _outputs(dag, work)
    except RunCancelled:
        work.lines.add("The run was cancelled.")
        return lambda at: claims.stop(run, at=at)
    except RunTimedOut:
        sentence = timeouts.sentence(run)
        work.lines.add(f"The run {sentence}.")
        return lambda at: _fail(work, sentence, at)
    except BaseException as error:  # the task's own: no signal to a worker is raised where runs are executed
        return _failing(work, error)
    return lambda at: _succeed(work, outputs, at)


def _failing(work: Work, error: BaseException) -> Callable[[datetime], None]:
    trace = trace_of(error, caller=__file__)
    work.lines.add(trace)
    return lambda at: _fail(work, trace, at)


def _succeed(work: Work, outputs: list[Output], at: datetime) -> None:
    run = work.run
    try:
        claims.succeed(run, outputs, at=at, failed_keys=work.failed_keys)
    except LeaseLost:
        raise
    except PartitionError as refusal:
        _fail(work, str(refusal), at)


@transaction.atomic
def _put_off(run: DagRun, why: str, at: datetime) -> None:
    unloadable.note(run.dag, why, at=at)  # before the run: so a look at the definitions locks them, too
    requeueing.unclaim(run, at=at)


def _fail(work: Work, error: str, at: datetime) -> None:
    if retries.fail(work.run, error, at=at, attempts=work.attempts):
        work.lines.add(retries.words(work.run))
        work.lines.flush()


def _take_step(step: Step, work: Work) -> None:
    if work.results:
        work.lease.renew()
    if work.lease.is_timed_out:
        raise RunTimedOut
    if work.lease.is_over:
        raise RunCancelled
    said = OutletEvents(step.task_id, step.task.outlets)
    work.attempts = retries.attempts_of(work.run.dag).but(step.task.retries, step.task.retry_delay)
    with capturing(work.lines, step.task_id), timeouts.interrupting(work.lease.left):
        result = _call(step, _context(step, work, said), work.results)
    fault.passing("executing")
    said.check()
    work.results[step.task_id], work.written[step.task_id] = result, said


def _call(step: Step, context: Mapping[str, Any], results: Mapping[str, Any]) -> Any:
    args, kwargs = filled(step.args, results), filled(dict(step.kwargs), results)
    takes = signature(step.task.function)
    bound = takes.bind_partial(*args, **kwargs).arguments
    for name, parameter in takes.parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            kwargs = {**{each: context[each] for each in context if each not in takes.parameters}, **kwargs}
        elif name not in bound and name in context:
            kwargs[name] = context[name]
    return step.task.function(*args, **kwargs)


def _context(step: Step, work: Work, said: OutletEvents) -> dict[str, Any]:
    run = work.run
    facts = RunFacts(
        dag_id=run.dag.dag_id,
        run_id=run.run_id,
        run_type=run.run_type,
        partition_key=run.partition_key,
        partition_date=run.partition_date,
        run_after=run.run_after,
        attempt=run.attempt,
        partition_keys=tuple(run.keys),
        failed_keys=work.failed_keys,
        conf=run.conf,
        is_cancelled=lambda: work.lease.is_over,
        is_timed_out=lambda: work.lease.is_timed_out,
    )
    context: dict[str, Any] = {
        name: getattr(facts, name)
        for name in ("partition_key", "partition_keys", "partition_date", "run_id", "conf")
    }
    context |= {"dag_run": facts, "task_id": step.task_id, "outlet_events": said}
    context |= {
        "dynamic_partitions": dynamic.DynamicKeys(run, work.clock),
        "inlet_events": inlets.inlet_events(),
        "triggering_asset_events": inlets.triggering_events(run),
    }
    if step.task.made:
        context["self"] = step.task.made
    return {**context, "context": dict(context)}


def _outputs(dag: DAG, work: Work) -> list[Output]:
    """What the run writes: each outlet with the keys its task named, or the run's own, each key once.

    A run whose timetable leaves the keys to the code, and that has none itself, writes only what was named.
    """
    names_keys = bool(getattr(dag.schedule, "at_runtime", False)) and not work.run.keys
    rows = _rows(outlet.name for step in dag.steps.values() for outlet in step.task.outlets)
    own: list[str | None] = [] if names_keys else [*work.run.keys] or [None]
    told: set[tuple[str, str | None]] = set()
    outputs = []
    for task_id, said in work.written.items():
        for asset, event in said.items():
            keys = [key for key in event.keys or own if (asset.name, key) not in told]
            told |= {(asset.name, key) for key in keys}
            named = [key for key in keys if key is not None]
            if keys:
                outputs.append(
                    Output(
                        rows[asset.name],
                        keys=named or None,
                        extra=dict(event.extra),
                        extras={key: event.keys[key] for key in named if event.keys.get(key)},
                        task_id=task_id,
                    )
                )
    return outputs


def _rows(names: Iterable[str]) -> dict[str, Asset]:
    return {row.name: row for row in Asset.objects.filter(name__in=set(names))}
