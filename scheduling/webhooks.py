"""Runs whose work an HTTP address does: a signed POST, and then its answer, or a callback.

1. The POST names the run, its keys, the attempt, and where to call back. Its signature is an HMAC-SHA256 over
   the time of sending, a full stop, and the body.
2. 202 leaves the run to whoever answered, for so long; another 2xx ends it; anything else is a failure.
3. A callback carries a token that stands for this attempt alone.
"""

import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from core.models import DagRun, Outlet
from scheduling import claims, outbound, reports, retries
from scheduling.algebra.errors import PartitionError
from scheduling.authoring.executors import Webhook
from scheduling.claims import LeaseLost
from scheduling.outbound import Answer, Forbidden, Unreachable
from scheduling.reports import InvalidReport, Report
from scheduling.runlog import Clock, RunLog, storable

SHOWN = 1000
"""Characters of an answer that are shown when it is a failure."""


def deliver(hook: Webhook, run: DagRun, lines: RunLog, clock: Clock) -> Callable[[datetime], None]:
    """Send `run`, which this worker has claimed, to `hook`; returns how to record what came of it."""
    body = json.dumps(_said(hook, run), ensure_ascii=False).encode()
    signed = {**hook.headers, **headers(hook.secret, clock(), body)}
    try:
        answer = outbound.post(hook.url, body, signed, patience=hook.patience)
    except Forbidden as refusal:
        lines.add(str(refusal))
        return partial(_refuse, run, str(refusal))
    except Unreachable as failure:
        lines.add(str(failure))
        return partial(_fail, run, lines, str(failure))
    lines.add(f"{hook.address} answered {answer.status}.")
    return partial(_conclude, hook, run, lines, answer)


def sign(secret: str, sent_at: int, body: bytes) -> str:
    """The signature of a request that was sent so many seconds after 1970."""
    signed = hmac.new(secret.encode(), f"{sent_at}.".encode() + body, hashlib.sha256)
    return f"sha256={signed.hexdigest()}"


def headers(secret: str, at: datetime, body: bytes) -> dict[str, str]:
    """The headers of a request with this JSON body, sent at that instant and signed."""
    sent_at = int(at.timestamp())
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Partita/{settings.VERSION}",
        "X-Partita-Timestamp": str(sent_at),
        "X-Partita-Signature": sign(secret, sent_at, body),
    }


def token_of(run: DagRun) -> str:
    """What a callback about this attempt at `run` must carry."""
    began = run.started_at.isoformat() if run.started_at else ""
    return salted_hmac("partita.callback", f"{run.pk}:{run.attempt}:{began}", algorithm="sha256").hexdigest()


def is_token_of(run: DagRun, token: str) -> bool:
    return constant_time_compare(token, token_of(run))


def wait_of(run: DagRun) -> timedelta:
    """How long a run that was answered with 202 is waited for, from each time that it is heard of."""
    return timedelta(seconds=run.dag.executor_terms.get("callback_within", 3600))


def _said(hook: Webhook, run: DagRun) -> dict[str, Any]:
    outlets = Outlet.objects.filter(dag=run.dag).order_by("asset__name")
    return {
        "id": run.pk,
        "dag_id": run.dag.dag_id,
        "run_id": run.run_id,
        "run_type": run.run_type,
        "attempt": run.attempt,
        "partition_key": run.partition_key,
        "partition_keys": run.keys,
        "partition_date": run.partition_date.isoformat() if run.partition_date else None,
        "conf": run.conf,
        "outlets": list(dict.fromkeys(outlets.values_list("asset__name", flat=True))),
        "callback": {
            "url": f"{settings.SITE_URL.rstrip('/')}/api/v2/runs/{run.pk}/callback",
            "token": token_of(run),
            "within_seconds": hook.wait.total_seconds(),
        },
    }


def _conclude(hook: Webhook, run: DagRun, lines: RunLog, answer: Answer, at: datetime) -> None:
    if answer.status == 202:
        _entrust(hook, run, at)
    elif 200 <= answer.status < 300:
        try:
            reports.conclude(run, _report(answer), at=at)
        except LeaseLost:
            raise
        except PartitionError as refusal:
            _fail(run, lines, f"what {hook.address} answered cannot be recorded: {refusal}", at)
    else:
        text = storable(answer.text[:SHOWN]).strip()
        _fail(run, lines, f"{hook.address} answered {answer.status}{f': {text}' if text else ''}", at)


def _entrust(hook: Webhook, run: DagRun, at: datetime) -> None:
    """Leave the run to whoever answered, unless somebody cancelled it meanwhile."""
    try:
        claims.entrust(run, f"webhook {urlsplit(hook.url).netloc}"[:150], until=at + hook.wait)
    except LeaseLost:
        claims.stop(run, at=at)


def _report(answer: Answer) -> Report:
    """What the body says, if it is a report: an object with `outputs`.

    :raises InvalidReport: if it may have been one, and cannot be read.
    """
    if not answer.is_whole:
        raise InvalidReport(
            f"it is longer than {outbound.MOST_BYTES} bytes"
            if len(answer.body) == outbound.MOST_BYTES
            else "it was cut off"
        )
    if not _says_json(answer):
        return Report()
    try:
        value = json.loads(answer.body)
    except RecursionError:
        raise InvalidReport("it is nested too deeply") from None
    except ValueError as error:
        raise InvalidReport(f"it is not JSON: {error}") from None
    if not isinstance(value, dict) or "outputs" not in value:
        return Report()
    return reports.read(value["outputs"], value.get("failed_keys"))


def _says_json(answer: Answer) -> bool:
    """Whether the body says that it is JSON, or begins as a report does. An empty one says nothing."""
    begins = answer.body.lstrip()[:1]
    is_json = answer.media_type == "application/json" or answer.media_type.endswith("+json")
    return bool(begins) and (is_json or begins in b"{[")


def _refuse(run: DagRun, error: str, at: datetime) -> None:
    claims.fail(run, error, at=at)


def _fail(run: DagRun, lines: RunLog, error: str, at: datetime) -> None:
    if retries.fail(run, error, at=at):
        lines.add(retries.words(run))
        lines.flush()
