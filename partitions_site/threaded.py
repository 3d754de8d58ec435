"""Answers requests in a fixed number of threads, each with a database connection of its own that it keeps.

Views and the ORM are synchronous. Django's own ASGI face gives each request a new thread, which has to
connect to the database first; here an answer costs a quarter of that, and a server never has more connections
than threads, and one for whoever waits for a run. A response that streams has a thread only while a piece of
it is made: it may take an hour.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import IO, Any

from django.core import signals
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import FileResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from partitions_site import bodies

Message = MutableMapping[str, Any]
Answer = tuple[Message, Message] | StreamingHttpResponse
TOO_SLOW: Message = {"type": "http.response.start", "status": 408, "headers": [(b"connection", b"close")]}


class Threaded(ASGIHandler):
    """The web application for ASGI servers. A client that goes away does not stop what it has asked for."""

    def __init__(self, threads: int) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="answer")

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await bodies.received(scope, receive)
        except ConnectionAbortedError:
            return
        except TimeoutError:
            await send(TOO_SLOW)
            await send({"type": "http.response.body"})
            return
        answer = await self._in_thread(self._answer, scope, body)
        if isinstance(answer, StreamingHttpResponse):
            await self._stream(answer, receive, send)
            return
        for message in answer:
            await send(message)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"only HTTP is answered here, not {scope['type']}")
        await self.handle(scope, receive, send)

    def _answer(self, scope: Any, body: IO[bytes]) -> Answer:
        """What is to be sent, or a response that streams, which is yet to be closed."""
        with body:
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=self.__class__, scope=scope)
            request, refusal = self.create_request(scope, body)
            response: Any = refusal if request is None else self.get_response(request)
            if isinstance(response, StreamingHttpResponse):
                return response
            try:
                return _start(response), {"type": "http.response.body", "body": response.content}
            finally:
                response.close()

    async def _stream(self, response: StreamingHttpResponse, receive: Any, send: Any) -> None:
        """Send a response piece by piece, until it is over or its reader has gone."""
        tasks = asyncio.ensure_future(self._send(response, send)), asyncio.ensure_future(_left(receive))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._in_thread(response.close)

    async def _send(self, response: StreamingHttpResponse, send: Any) -> None:
        await send(_start(response))
        async with aclosing(self._pieces(response)) as pieces:
            async for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})

    async def _pieces(self, response: StreamingHttpResponse) -> AsyncGenerator[bytes]:
        """What waits by itself does so on the loop; what is read is read in a thread, one piece at a time."""
        if response.is_async:
            async for piece in response:
                yield piece
            return
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        pieces = iter(response)
        while (piece := await self._in_thread(next, pieces, None)) is not None:
            yield piece

    async def _in_thread(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *arguments)


async def _left(receive: Any) -> None:
    """Returns when the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _start(response: HttpResponseBase) -> Message:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    for cookie in response.cookies.values():
        headers.append((b"Set-Cookie", cookie.output(header="").encode("ascii").strip()))
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}
