"""Bodies of requests as a web process takes them in."""

import asyncio
import json

import pytest
from django.urls import path
from rest_framework.decorators import api_view, authentication_classes, permission_classes
from rest_framework.response import Response

from partitions_site import bodies
from partitions_site.api.parsing import JsonBody
from partitions_site.threaded import Threaded


@api_view(["POST"])
@authentication_classes([])
@permission_classes([])
def echo(request):
    return Response(request.data)


echo.cls.parser_classes = [JsonBody]
urlpatterns = [path("echo", echo)]


@pytest.fixture
def web(settings):
    settings.ROOT_URLCONF = __name__
    settings.MIDDLEWARE = []
    return Threaded(1)


class Client:
    """Sends parts of a body, and counts how many were taken. After the last it is silent, or gone."""

    def __init__(self, *parts, length=None, ends="whole"):
        headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
        if length is not None:
            headers.append((b"content-length", str(length).encode()))
        self.scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/echo"}
        self.scope |= {"query_string": b"", "headers": headers}
        self.parts, self.ends, self.taken = list(parts), ends, 0

    async def receive(self):
        if self.parts:
            self.taken += 1
            return {"type": "http.request", "body": self.parts.pop(0), "more_body": True}
        if self.ends == "silent":
            await asyncio.Event().wait()
        return {"type": "http.request"} if self.ends == "whole" else {"type": "http.disconnect"}

    def answer(self, web):
        sent = []

        async def send(message):
            sent.append(message)

        asyncio.run(web(self.scope, self.receive, send))
        return (sent[0]["status"], b"".join(each.get("body", b"") for each in sent[1:])) if sent else None


def test_one_that_comes_in_chunks_is_read_like_any_other(web):
    """It announces no length, which REST framework takes for no body: a run was started without its key."""
    parts = [b'{"partition_key": ', b'"2026-03-10"}']
    whole = Client(*parts, length=sum(map(len, parts))).answer(web)
    assert Client(*parts).answer(web) == whole
    assert json.loads(whole[1]) == {"partition_key": "2026-03-10"}


@pytest.mark.parametrize("announced", [True, False])
def test_one_that_the_api_may_read_is_not_refused_by_the_bound_of_forms(web, settings, announced):
    assert settings.DATA_UPLOAD_MAX_MEMORY_SIZE < 4_000_000 < settings.API_BODY_LIMIT
    text = b'"' + b"x" * 4_000_000 + b'"'
    assert Client(text, length=len(text) if announced else None).answer(web) == (200, text)


def test_one_without_end_is_taken_in_as_far_as_may_be_read_and_refused(web, settings):
    settings.API_BODY_LIMIT, most = 1000, settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    client = Client(*[b"[" * (most // 10)] * 100)
    assert client.answer(web)[0] == 413
    assert client.taken == 11


def test_one_that_announces_too_much_is_refused_before_it_is_sent(web):
    client = Client(b"[" * 100, length=99_999_999_999, ends="silent")
    assert client.answer(web)[0] == 413
    assert client.taken == 0


def test_whoever_is_silent_before_the_end_is_told_that_it_took_too_long(web, monkeypatch):
    monkeypatch.setattr(bodies, "SECONDS", 0.05)
    assert Client(b"[", ends="silent").answer(web) == (408, b"")


def test_whoever_goes_before_the_end_is_not_answered(web):
    assert Client(b"[1]", ends="gone").answer(web) is None
