"""Who reports events to a benchmark's installation: clients of its API, this process, plain connections."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import psycopg

from tests.benchmarks.stand import Site


class Receiver(NamedTuple):
    """Who events are posted to: an API on ports of this machine, for one asset."""

    ports: Sequence[int]
    token: str
    asset_id: int


class Connection:
    """A client of the API that costs little: one socket kept open, requests written as bytes."""

    def __init__(self, port: int, token: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"

    def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer."""
        head = f"POST {path} HTTP/1.1\r\n{self._head}Content-Type: application/json\r\n"
        self._socket.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._more()
        headers, _, rest = received.partition(b"\r\n\r\n")
        length = int(headers.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        while len(rest) < length:
            rest += self._more()
        return int(headers[9:12]), rest

    def _more(self) -> bytes:
        if chunk := self._socket.recv(65536):
            return chunk
        raise ConnectionError("the web process has closed the connection")

    def close(self) -> None:
        self._socket.close()


def login(name: str = "producer") -> str:
    """A personal token of a user who may report events."""
    from django.contrib.auth.models import Group, User

    from partitions_site.models import ApiToken
    from partitions_site.roles import OPERATOR

    user = User.objects.create_user(name)
    user.groups.add(Group.objects.get(name=OPERATOR))
    token: str = ApiToken.objects.create(user=user, name=name)[1]
    return token


def event(asset_id: int, key: str) -> bytes:
    return json.dumps({"asset_id": asset_id, "partition_key": key, "extra": {"rows": 100}}).encode()


def emit(name: str, keys: Iterable[str]) -> None:
    """Report events by the engine's own way, in this process."""
    from django.utils import timezone

    from core.models import Asset, AssetEvent
    from scheduling import events
    from scheduling.journal import Deed

    asset = Asset.objects.get(name=name)
    reports = [events.EventReport(asset, key, {"rows": 100}) for key in keys]
    events.register_events(
        reports, source=AssetEvent.Source.API, deed=Deed(by="bench", via="api"), at=timezone.now()
    )


def crowd(clients: int, work: Any) -> float:
    """Run `work(number)` for each number of a client at once; wall seconds until all have ended."""
    failures: list[BaseException] = []

    def client(number: int) -> None:
        try:
            work(number)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    begun = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return perf_counter() - begun


def plain_inserts(site: Site, clients: int, seconds: float) -> float:
    """The floor: rows a second that plain INSERT and COMMIT write from `clients` connections at once."""
    counts = [0] * clients
    with psycopg.connect(site.database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE floor (id bigserial PRIMARY KEY, key text, at timestamptz)")
    until = perf_counter() + seconds

    def client(number: int) -> None:
        with psycopg.connect(site.database_url, autocommit=True) as connection:
            while perf_counter() < until:
                connection.execute(
                    "INSERT INTO floor (key, at) VALUES (%s, now())", [f"{number}-{counts[number]}"]
                )
                counts[number] += 1

    wall = crowd(clients, client)
    with psycopg.connect(site.database_url, autocommit=True) as connection:
        connection.execute("DROP TABLE floor")
    return sum(counts) / wall
