"""Requests to addresses that definitions name: never to a network that the operators did not open.

A name is looked up once, each of its addresses is looked at, and the connection goes to one of those: what
the name means a moment later does not matter. Redirections are not followed.
"""

import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPConnection, HTTPException
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings

from scheduling.algebra.errors import PartitionError
from scheduling.runlog import storable

Address = IPv4Address | IPv6Address
Place = tuple[int, tuple[Any, ...]]
"""A family of addresses, and an address with its port as that family has it."""

MOST_BYTES = 1024 * 1024
"""How much of an answer is kept."""

LONGEST = 1000
"""Characters of the reason why nobody was reached."""

NAT64 = ip_network("64:ff9b::/96")


class Forbidden(PartitionError):
    """The address is in a network that webhooks may not call."""


class Unreachable(PartitionError):
    """Nobody answered, or not in time."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`body` holds the first `MOST_BYTES`: all of it if it `is_whole`. `media_type` is what it says it is."""

    status: int
    body: bytes = b""
    media_type: str = ""
    is_whole: bool = True

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


def post(url: str, body: bytes, headers: Mapping[str, str], *, patience: timedelta) -> Answer:
    """POST `body` to `url`; the whole of it, from the first packet to the last, may take so long.

    :raises Forbidden: if the host has an address in a network that is not open to webhooks.
    :raises Unreachable: if there is no answer within `patience`.
    """
    parts = urlsplit(url)
    connection = _Connection(parts, _places(parts), patience.total_seconds())
    try:
        with _hung_up_after(connection, patience) as is_late:
            answer = _asked(connection, _target(parts), body, headers)
            if is_late.is_set():
                raise TimeoutError
            return answer
    except (OSError, HTTPException) as error:
        late = is_late.is_set() or isinstance(error, TimeoutError)
        reason = f"no answer within {patience.total_seconds():g} seconds" if late else _words(error)
        # The reason may quote what the other side has sent.
        raise Unreachable(storable(f"{parts.netloc} cannot be reached: {reason}"[:LONGEST])) from error
    finally:
        connection.close()


class _Connection(HTTPConnection):
    """Connects to addresses that were looked at before, whatever the name of the host means now."""

    def __init__(self, parts: SplitResult, places: list[Place], seconds: float) -> None:
        super().__init__(parts.hostname or "", _port(parts), timeout=seconds)
        self.wire: socket.socket | None = None
        self.default_port = 443 if parts.scheme == "https" else 80
        self._is_secure, self._places = parts.scheme == "https", places

    def connect(self) -> None:
        self.sock = _connected(self._places, self.timeout or 0)
        if self._is_secure:
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.host)
        self.wire = self.sock


def _connected(places: list[Place], seconds: float) -> socket.socket:
    failure: OSError = OSError("it has no address")
    for family, place in places:
        connection = socket.socket(family, socket.SOCK_STREAM)
        connection.settimeout(seconds)
        try:
            connection.connect(place)
        except OSError as error:
            connection.close()
            failure = error
        else:
            return connection
    raise failure


@contextmanager
def _hung_up_after(connection: _Connection, patience: timedelta) -> Iterator[threading.Event]:
    """Hang up after `patience`, however often the other side sends a byte; the event tells that."""
    is_late = threading.Event()

    def hang_up() -> None:
        is_late.set()
        if connection.wire:
            with suppress(OSError):
                connection.wire.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(patience.total_seconds(), hang_up)
    timer.daemon = True
    timer.start()
    try:
        yield is_late
    finally:
        timer.cancel()


def _asked(connection: _Connection, target: str, body: bytes, headers: Mapping[str, str]) -> Answer:
    connection.request("POST", target, body, dict(headers))
    response = connection.getresponse()
    found = response.read(MOST_BYTES + 1)
    return Answer(
        response.status,
        found[:MOST_BYTES],
        response.headers.get_content_type() if "Content-Type" in response.headers else "",
        # What is left of the length that it announced never came: the other side hung up.
        is_whole=len(found) <= MOST_BYTES and not response.length,
    )


def _words(error: Exception) -> str:
    return str(error).strip() or type(error).__name__


def _places(parts: SplitResult) -> list[Place]:
    host, port = parts.hostname or "", _port(parts)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"{host} cannot be reached: {error}") from error
    for _, _, _, _, place in found:
        address = ip_address(str(place[0]).partition("%")[0])
        if not _is_open(address):
            raise Forbidden(
                f"{host} is {address}, in a network that webhooks may not call: "
                "PARTITA_WEBHOOK_NETWORKS names those that they may"
            )
    return [(family, place) for family, _, _, _, place in found]


def _is_open(address: Address) -> bool:
    """Whether anybody may be called at `address`: it is public, or the operators have opened its network."""
    inner = _inner(address)
    return (inner.is_global and not inner.is_multicast) or any(
        inner in ip_network(network) for network in settings.WEBHOOK_NETWORKS
    )


def _inner(address: Address) -> Address:
    """The address that one of another kind leads to."""
    if isinstance(address, IPv6Address):
        if address in NAT64:
            return IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
