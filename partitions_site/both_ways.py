"""Middleware that marks a request and its answer, alike for servers that wait for it and that do not."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase


class BothWays:
    """Gives what `before` says of a request to `after`, which puts it on the answer."""

    async_capable = True
    sync_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if iscoroutinefunction(self):
            return self._answer_later(request)
        mark = self.before(request)
        return self.after(self.get_response(request), mark)

    def before(self, request: HttpRequest) -> str:
        raise NotImplementedError

    def after(self, response: HttpResponseBase, mark: str) -> HttpResponseBase:
        raise NotImplementedError

    async def _answer_later(self, request: HttpRequest) -> HttpResponseBase:
        mark = self.before(request)
        return self.after(await self.get_response(request), mark)
