"""A real HTTP server that remembers what it was sent and answers as it was told."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Reply = tuple[int, Any]


@dataclass
class Receiver:
    """`replies` are given one after another, the last one for ever: a status and JSON, or a function."""

    url: str = ""
    replies: list[Reply | Callable[[BaseHTTPRequestHandler, Request], None]] = field(
        default_factory=lambda: [(200, None)]
    )
    requests: list[Request] = field(default_factory=list)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length", 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = Request(handler.path, headers, handler.rfile.read(length))
        self.requests.append(request)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if callable(reply):
            reply(handler, request)
            return
        status, value = reply
        text = value if isinstance(value, bytes) else b"" if value is None else json.dumps(value).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)


def drip(handler: BaseHTTPRequestHandler, request: Request) -> None:
    """A byte now and then, and never the end."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b".")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass


def drip_headers(handler: BaseHTTPRequestHandler, request: Request) -> None:
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            handler.wfile.write(b"X-Slow: yes\r\n")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass


def hang(handler: BaseHTTPRequestHandler, request: Request) -> None:
    time.sleep(3)


def hang_up(handler: BaseHTTPRequestHandler, request: Request) -> None:
    handler.connection.close()


def garble(handler: BaseHTTPRequestHandler, request: Request) -> None:
    handler.wfile.write(b"HTTP/1.1 2\x000 OK\r\n\r\n")


def empty_json(handler: BaseHTTPRequestHandler, request: Request) -> None:
    _send_json(handler, b"", 0)


def broken_json(handler: BaseHTTPRequestHandler, request: Request) -> None:
    _send_json(handler, b"done", 4)


def cut_off(handler: BaseHTTPRequestHandler, request: Request) -> None:
    """Less than was announced."""
    _send_json(handler, b"{}", 200)


def _send_json(handler: BaseHTTPRequestHandler, body: bytes, announced: int) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json; charset=utf-8")
    handler.send_header("Content-Length", str(announced))
    handler.end_headers()
    handler.wfile.write(body)


def go_elsewhere(handler: BaseHTTPRequestHandler, request: Request) -> None:
    handler.send_response(302)
    handler.send_header("Location", "http://127.0.0.1:1/secret")
    handler.send_header("Content-Length", "0")
    handler.end_headers()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/runs?hook=7"
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
