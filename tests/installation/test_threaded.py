"""The web application as an ASGI server sees it."""

import asyncio
import time

import pytest
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse
from django.urls import path

from partitions_site.threaded import Threaded
from tests.installation import slow_views
from tests.installation.slow_views import SLOW_SECONDS, Zeros


@pytest.fixture
def web(settings):
    settings.ROOT_URLCONF = slow_views.__name__
    settings.MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
    return Threaded(2)


async def ask(web, address, *parts, method="GET", end=True, read=None):
    """All that is sent in answer to a request whose body comes in `parts`.

    :param read: called with each message before the next; the client goes away when it returns False.
    """
    where, _, query = address.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": where,
        "query_string": query.encode(),
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"content-type", b"text/plain"),
            (b"content-length", str(sum(map(len, parts))).encode()),
        ],
    }
    coming = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    coming.append({"type": "http.request"} if end else {"type": "http.disconnect"})
    sent, gone = [], asyncio.Event()

    async def receive():
        if coming:
            return coming.pop(0)
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)
        if read and await read(message) is False:
            gone.set()

    await web(scope, receive, send)
    return sent


def answered(sent):
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def test_it_gives_the_view_all_of_the_request_and_the_client_all_of_the_answer(web):
    sent = asyncio.run(ask(web, "/echo?q=1", b"one ", b"two", method="PUT"))
    assert answered(sent) == (200, b'{"body": "one two", "query": "1", "as": "PUT"}')
    headers = dict(sent[0]["headers"])
    assert headers[b"Set-Cookie"].startswith(b"seen=yes")
    assert headers[b"Content-Length"] == b"46"


def test_it_answers_in_as_many_threads_as_it_has_and_keeps_them(web):
    async def many():
        return await asyncio.gather(*(ask(web, "/thread") for _ in range(8)))

    begun = time.perf_counter()
    names = {answered(sent)[1] for sent in asyncio.run(many()) + asyncio.run(many())}
    assert len(names) == 2
    assert time.perf_counter() - begun >= 8 * SLOW_SECONDS


@pytest.mark.django_db(transaction=True)
def test_a_thread_keeps_its_connection(settings):
    """A new one for each request is what most of the time of a small answer went to."""
    from django.db import connection

    settings.ROOT_URLCONF, settings.MIDDLEWARE = Kept, []
    web = Threaded(1)
    try:
        kept = {answered(asyncio.run(ask(web, "/kept")))[1] for _ in range(3)}
        assert len(kept) == 1
        assert kept != {str(id(connection.connection)).encode()}
    finally:
        asyncio.run(ask(web, "/close"))


class Kept:
    """Addresses that tell of the database connection of the thread that answers."""

    @staticmethod
    def which(request):
        from django.db import connection

        connection.ensure_connection()
        return HttpResponse(str(id(connection.connection)))

    @staticmethod
    def close(request):
        from django.db import connection

        connection.close()
        return HttpResponse()

    urlpatterns = [path("kept", which), path("close", close)]


def test_what_streams_is_sent_as_it_comes(web):
    sent = asyncio.run(ask(web, "/lines"))
    assert [message.get("body") for message in sent[1:]] == [b"0\n", b"1\n", b"2\n", None]
    assert sent[-1] == {"type": "http.response.body"}


def test_what_waits_between_its_lines_is_sent_as_it_comes_and_ends_with_its_reader(web):
    async def read(message):
        return message.get("body") != b"4\n"

    sent = asyncio.run(asyncio.wait_for(ask(web, "/endless", read=read), 10))
    bodies = [message.get("body") for message in sent[1:]]
    assert bodies == [b"0\n", b"1\n", b"2\n", b"3\n", b"4\n"]


def test_streams_hold_no_thread(web):
    """More of them than there are threads, and everybody else is answered."""

    async def crowd():
        streams = [asyncio.ensure_future(ask(web, "/endless")) for _ in range(6)]
        await asyncio.sleep(0.1)
        answer = await asyncio.wait_for(ask(web, "/echo"), 10)
        for stream in streams:
            stream.cancel()
        ends = await asyncio.gather(*streams, return_exceptions=True)
        return answer, ends

    answer, ends = asyncio.run(crowd())
    assert answer[0]["status"] == 200
    assert all(isinstance(end, asyncio.CancelledError) for end in ends)


def test_whoever_reads_a_file_slowly_holds_no_thread(web, monkeypatch):
    monkeypatch.setattr(Zeros, "asked", [])
    monkeypatch.setattr(Zeros, "closed_ones", [])

    async def crowd():
        go_on = asyncio.Event()

        async def read(message):
            await go_on.wait()

        readers = [asyncio.ensure_future(ask(web, "/file", read=read)) for _ in range(4)]
        await asyncio.sleep(0.1)
        answer = await asyncio.wait_for(ask(web, "/echo"), 10)
        go_on.set()
        return answer, await asyncio.gather(*readers)

    answer, files = asyncio.run(crowd())
    assert answer[0]["status"] == 200
    assert [answered(sent) for sent in files] == [(200, bytes(300_000))] * 4
    assert set(Zeros.asked) == {2**16}
    assert len(Zeros.closed_ones) >= 4


def test_a_request_that_breaks_off_reaches_no_view(web, monkeypatch):
    answers = []
    ordinary = BaseHandler.get_response
    monkeypatch.setattr(
        BaseHandler, "get_response", lambda self, request: answers.append(request) or ordinary(self, request)
    )
    assert asyncio.run(ask(web, "/echo", b"half", end=False)) == []
    assert answers == []
    asyncio.run(ask(web, "/echo", b"whole"))
    assert len(answers) == 1


def test_a_view_that_fails_is_answered_with_500(web, settings):
    settings.DEBUG_PROPAGATE_EXCEPTIONS = False
    settings.LOGGING_CONFIG = None
    assert asyncio.run(ask(web, "/fail"))[0]["status"] == 500


def test_it_answers_http_only(web):
    with pytest.raises(ValueError, match="not websocket"):
        asyncio.run(web({"type": "websocket"}, None, None))
