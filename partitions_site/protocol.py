"""How a web process reads HTTP: with httptools, which is written in C, within bounds that it lacks."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64 * 1024
"""Bytes of the first line of a request and its headers. What has come in one piece may be longer."""


class Protocol(HttpToolsProtocol):
    """One connection.

    A head that has no end is refused before it has filled the memory. Headers that come after a body are left
    out: a proxy has not looked at them.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._is_in_head, self._has_moved, self._head = True, False, 0

    def data_received(self, data: bytes) -> None:
        self._has_moved = False
        super().data_received(data)
        if self._has_moved or not self._is_in_head:
            self._head = 0
            return
        self._head += len(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response(f"The head of the request is longer than {MOST_HEAD} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._is_in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._is_in_head, self._has_moved = False, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._is_in_head, self._has_moved = True, True
        super().on_message_complete()
