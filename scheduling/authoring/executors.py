"""Who does the work of a Dag's runs: Python tasks of its file, an HTTP address, or another system."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar
from urllib.parse import SplitResult, urlsplit

from scheduling.algebra.durations import duration
from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring.attempts import Attempts, Span


@dataclass(frozen=True, slots=True)
class Executor:
    """`attempts`: how often a run is tried again if its Dag says nothing."""

    kind: ClassVar[str]
    attempts: ClassVar[Attempts] = Attempts()

    def check(self) -> None:
        """:raises InvalidDefinition: naming the argument that cannot be."""

    def told(self) -> dict[str, Any]:
        """What may be stored and shown of it, as JSON: nothing that is secret."""
        return {}


@dataclass(frozen=True, slots=True)
class Python(Executor):
    """The Dag's tasks, called by a worker. What a Dag has unless it says otherwise."""

    kind: ClassVar[str] = "python"


@dataclass(frozen=True, slots=True)
class Webhook(Executor):
    """Each run is a POST to `url`, signed with `secret`. Another 2xx than 202 ends it well.

    202 leaves its end to a callback, which must come `callback_within` that time. Anything else is a failure,
    tried again after a while; five times unless the Dag says otherwise.

    :param timeout: how long the answer may take.
    :param headers: sent along; neither they nor the secret are stored or shown.
    """

    kind: ClassVar[str] = "webhook"
    attempts: ClassVar[Attempts] = Attempts(retries=5, retry_delay=timedelta(seconds=10), retry_backoff=2)
    url: str
    secret: str = field(kw_only=True, repr=False)
    timeout: Span = field(default=timedelta(seconds=30), kw_only=True)
    callback_within: Span = field(default=timedelta(hours=1), kw_only=True)
    headers: Mapping[str, str] = field(default_factory=dict, kw_only=True, repr=False)

    @property
    def patience(self) -> timedelta:
        return duration(self.timeout)

    @property
    def wait(self) -> timedelta:
        return duration(self.callback_within)

    @property
    def address(self) -> str:
        """The URL without its query, which may hold what nobody should read."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}{parts.path}"

    def check(self) -> None:
        _check_url(self.url)
        if not isinstance(self.secret, str) or len(self.secret) < 8:
            raise InvalidDefinition("the secret of a Webhook has 8 characters or more: it signs each request")
        for name in ("timeout", "callback_within"):
            try:
                duration(getattr(self, name))
            except InvalidDefinition as refusal:
                raise InvalidDefinition(f"{name} of a Webhook: {refusal}") from None
        _check_headers(self.headers)

    def told(self) -> dict[str, Any]:
        return {
            "url": self.address,
            "timeout": self.patience.total_seconds(),
            "callback_within": self.wait.total_seconds(),
        }


@dataclass(frozen=True, slots=True)
class External(Executor):
    """Another system asks for runs over the API, says that it is alive, and reports how they ended."""

    kind: ClassVar[str] = "external"


_NAMED: dict[object, Executor] = {"python": Python(), "external": External()}


def executor_of(value: object) -> Executor:
    """The executor that a Dag says, by value or by name.

    :raises InvalidDefinition: if it is none, or one with an argument that cannot be.
    """
    found = _NAMED.get(value) if isinstance(value, str) else value
    if not isinstance(found, Executor):
        raise InvalidDefinition(
            f'an executor is "python", "external", External() or Webhook(url, secret=…), not {value!r}'
        )
    found.check()
    return found


def _check_url(url: object) -> None:
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidDefinition(
            f"the url of a Webhook begins with http:// or https:// and a host, not {url!r}"
        )
    if parts.username is not None or parts.password is not None:
        raise InvalidDefinition("the url of a Webhook holds no password: send it in headers=")


def _split(url: object) -> SplitResult | None:
    if not isinstance(url, str) or not (url.isascii() and url.isprintable()) or " " in url:
        return None
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for one that is no number
    except ValueError:
        return None
    return parts


def _check_headers(headers: object) -> None:
    if not isinstance(headers, Mapping) or not all(
        isinstance(text, str) and text.isascii() and text.isprintable()
        for pair in headers.items()
        for text in pair
    ):
        raise InvalidDefinition("headers of a Webhook are names and values in plain ASCII, one line each")
