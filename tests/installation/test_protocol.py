"""What a web process reads of a connection: whole requests, and no more of one than it has room for."""

import json
import select
import socket
import threading
import time

import pytest
import uvicorn

from partitions_site.protocol import MOST_HEAD, Protocol
from tests.servers import free_port

SECONDS = 10
BEGIN = b"POST /x HTTP/1.1\r\nHost: here\r\n"


async def tell(scope, receive, send):
    """Answers with the names of the headers and the length of the body."""
    length, more = 0, True
    while more:
        message = await receive()
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
    names = [name.decode() for name, _ in scope["headers"]]
    body = json.dumps({"names": names, "length": length}).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def port():
    port = free_port()
    server = uvicorn.Server(
        uvicorn.Config(tell, http=Protocol, port=port, lifespan="off", log_config=None, log_level="critical")
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    until = time.monotonic() + SECONDS
    while not server.started:
        assert time.monotonic() < until
        time.sleep(0.01)
    yield port
    server.should_exit = True
    thread.join(SECONDS)


@pytest.fixture
def connection(port):
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as made:
        yield made


def answer(connection):
    """The status and the body, or None where the connection was closed without a word."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            return None
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += connection.recv(65536)
    return int(head[9:12]), body


def ask(connection, *pieces):
    for piece in pieces:
        connection.sendall(piece)
        time.sleep(0.01)  # each comes alone
    status, body = answer(connection)
    assert status == 200, body
    return json.loads(body)


def is_refused(connection, piece):
    """Whether somebody has had enough before `piece` was sent so often that it makes 4 megabytes."""
    try:
        for _ in range(4_000_000 // len(piece)):
            if select.select([connection], [], [], 0.0005)[0]:
                return answer(connection)[0] == 400
            connection.sendall(piece)
    except ConnectionError:  # closed while more was under way
        return True
    return False


class TestProtocol:
    def test_a_connection_takes_one_request_after_the_other(self, connection):
        for length in (0, 5, 300_000, 1):
            head = BEGIN + f"Content-Length: {length}\r\n\r\n".encode()
            assert ask(connection, head, b"x" * length)["length"] == length

    def test_a_request_may_come_in_many_pieces(self, connection):
        text = BEGIN + b"A: 1\r\nContent-Length: 3\r\n\r\nabc"
        told = ask(connection, *(text[at : at + 1] for at in range(len(text))))
        assert told == {"names": ["host", "a", "content-length"], "length": 3}

    def test_a_body_may_be_longer_than_any_head(self, connection):
        """All of it in pieces that end where a request does; the next head is counted from nothing."""
        for _ in range(3):
            body = b"x" * (2 * MOST_HEAD)
            text = BEGIN + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
            assert ask(connection, text)["length"] == len(body)

    @pytest.mark.parametrize(
        ("begin", "piece"),
        [(b"GET /", b"a" * 1000), (BEGIN + b"A: ", b"a" * 1000), (BEGIN, b"A" * 990 + b": 1\r\n")],
        ids=["address", "header", "headers"],
    )
    def test_a_head_without_end_is_refused(self, connection, begin, piece):
        connection.sendall(begin)
        assert is_refused(connection, piece)

    def test_a_head_of_many_kilobytes_is_taken(self, connection):
        names = ask(connection, BEGIN, b"B: " + b"b" * (MOST_HEAD // 2) + b"\r\n", b"\r\n")["names"]
        assert names == ["host", "b"]

    def test_headers_after_the_body_are_left_out(self, connection):
        told = ask(
            connection,
            BEGIN + b"Transfer-Encoding: chunked\r\n\r\n",
            b"3\r\nabc\r\n0\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n",
        )
        assert told == {"names": ["host", "transfer-encoding"], "length": 3}

    def test_what_could_be_two_requests_is_none(self, connection):
        connection.sendall(BEGIN + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
        assert answer(connection)[0] == 400
