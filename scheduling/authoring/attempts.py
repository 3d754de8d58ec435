"""How often a run that fails is tried again, and how long one attempt may take."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from scheduling.algebra.durations import duration
from scheduling.algebra.errors import InvalidDefinition

if TYPE_CHECKING:
    from scheduling.authoring.dags import DAG

LONGEST_DELAY = timedelta(days=1)
"""However often a delay is multiplied, the next attempt follows within this."""

MOST_RETRIES = 1000
Span = timedelta | float | str


@dataclass(frozen=True, slots=True)
class Attempts:
    """`retry_delay`: the wait after the first failure; each further one is `retry_backoff` times as long."""

    retries: int = 0
    retry_delay: timedelta = timedelta(minutes=5)
    retry_backoff: float = 1.0
    run_timeout: timedelta | None = None

    def wait_after(self, failures: int) -> timedelta | None:
        """How long to wait after that many failures in a row; None if that was the last attempt."""
        if failures > self.retries:
            return None
        try:
            return min(self.retry_delay * self.retry_backoff ** (failures - 1), LONGEST_DELAY)
        except OverflowError:
            return LONGEST_DELAY

    def but(self, retries: int | None = None, retry_delay: Span | None = None) -> Self:
        """The same with what a single task says of itself.

        :raises InvalidDefinition: naming the argument that cannot be.
        """
        return replace(
            self,
            retries=self.retries if retries is None else _retries(retries),
            retry_delay=self.retry_delay if retry_delay is None else _delay(retry_delay),
        )


def attempts_of(dag: "DAG", usual: Attempts) -> Attempts:
    """What the arguments of `dag` say, and what is `usual` where they say nothing.

    :raises InvalidDefinition: naming the argument that cannot be.
    """
    own = usual.but(dag.retries, dag.retry_delay)
    backoff = own.retry_backoff if dag.retry_backoff is None else _backoff(dag.retry_backoff)
    timeout = None if dag.run_timeout is None else _span("run_timeout", dag.run_timeout)
    return replace(own, retry_backoff=backoff, run_timeout=timeout)


def _retries(value: object) -> int:
    if type(value) is not int or not 0 <= value <= MOST_RETRIES:
        raise InvalidDefinition(f"retries is a whole number from 0 to {MOST_RETRIES}, not {value!r}")
    return value


def _delay(value: object) -> timedelta:
    return timedelta(0) if value in (0, timedelta(0)) else _span("retry_delay", value)


def _backoff(value: object) -> float:
    """True doubles each delay, as it does in Airflow."""
    if isinstance(value, bool):
        return 2.0 if value else 1.0
    if not isinstance(value, int | float) or not 1 <= value <= 100:
        raise InvalidDefinition(f"retry_backoff is a number from 1 to 100, not {value!r}")
    return float(value)


def _span(name: str, value: object) -> timedelta:
    try:
        return duration(value)
    except InvalidDefinition as refusal:
        raise InvalidDefinition(f"{name}: {refusal}") from None
