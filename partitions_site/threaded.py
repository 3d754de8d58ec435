"""Answers requests in a fixed number of threads, each with a database connection of its own that it keeps.

Views and the ORM are synchronous. Django's own ASGI face gives each request a new thread, which has to
connect to the database first; here an answer costs a quarter of that, and a server never has more connections
than threads.
"""

import asyncio
from collections.abc import Callable, Iterable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

Message = MutableMapping[str, Any]


class Threaded(ASGIHandler):
    """The web application for ASGI servers. A client that goes away does not stop what it has asked for."""

    def __init__(self, threads: int) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="answer")

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        loop = asyncio.get_running_loop()

        def send_now(message: Message) -> None:
            asyncio.run_coroutine_threadsafe(send(message), loop).result()

        for message in await loop.run_in_executor(self._threads, self._answer, scope, body, send_now):
            await send(message)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise ValueError(f"only HTTP is answered here, not {scope['type']}")
        await self.handle(scope, receive, send)

    def _answer(self, scope: Any, body: IO[bytes], send_now: Callable[[Message], None]) -> Iterable[Message]:
        """What is to be sent; a response that streams has sent all but its end."""
        with body:
            set_script_prefix(get_script_prefix(scope))
            signals.request_started.send(sender=self.__class__, scope=scope)
            request, refusal = self.create_request(scope, body)
            response: Any = refusal if request is None else self.get_response(request)
            try:
                if isinstance(response, HttpResponse):
                    return _start(response), {"type": "http.response.body", "body": response.content}
                send_now(_start(response))
                for chunk in response:
                    send_now({"type": "http.response.body", "body": chunk, "more_body": True})
                return ({"type": "http.response.body"},)
            finally:
                response.close()


def _start(response: HttpResponseBase) -> Message:
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    for cookie in response.cookies.values():
        headers.append((b"Set-Cookie", cookie.output(header="").encode("ascii").strip()))
    return {"type": "http.response.start", "status": response.status_code, "headers": headers}
