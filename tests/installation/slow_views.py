"""Views that take their time, stream, fail, or give a file that remembers how it was read."""

import asyncio
import io
import itertools
import threading
import time
from typing import ClassVar

from django.http import FileResponse, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path

SLOW_SECONDS = 0.05


def echo(request):
    answer = JsonResponse(
        {"body": request.body.decode(), "query": request.GET.get("q"), "as": request.method}
    )
    answer.set_cookie("seen", "yes")
    return answer


def thread(request):
    time.sleep(SLOW_SECONDS)
    return HttpResponse(threading.current_thread().name)


def lines(request):
    return StreamingHttpResponse(f"{number}\n" for number in range(3))


def fail(request):
    raise RuntimeError("boom")


async def count():
    for number in itertools.count():
        yield f"{number}\n"
        await asyncio.sleep(0.01)


def endless(request):
    return StreamingHttpResponse(count())


class Zeros(io.BytesIO):
    """A file that remembers how much was asked of it at a time, and whether it was closed."""

    asked: ClassVar[list[int]] = []
    closed_ones: ClassVar[list[bool]] = []

    def read(self, size=-1):
        self.asked.append(size)
        return super().read(size)

    def close(self):
        self.closed_ones.append(True)
        super().close()


def file(request):
    return FileResponse(Zeros(bytes(300_000)))


urlpatterns = [
    path("echo", echo),
    path("thread", thread),
    path("lines", lines),
    path("endless", endless),
    path("file", file),
    path("fail", fail),
]
