"""`…/dagRuns/{run_id}/wait`: a line with the state of a run until it has ended."""

import asyncio
import json
from datetime import timedelta

import pytest
from asgiref.sync import async_to_sync
from django.db import connections
from django.utils import timezone

from core.models import DagRun
from partitions_site import roles
from partitions_site.api import waiting
from partitions_site.models import ApiToken
from partitions_site.threaded import Threaded
from scheduling import claims

pytestmark = pytest.mark.django_db

URL = "/api/v2/dags/lab_plain/dagRuns/x/wait"


@pytest.fixture
def run(api, lab):
    api.post("/api/v2/dags/lab_plain/dagRuns", {"dag_run_id": "x"})
    return DagRun.objects.get(run_id="x")


def states(text):
    return [json.loads(line)["state"] for line in text.splitlines()]


@async_to_sync
async def said(lines):
    return "".join([line async for line in lines])


@async_to_sync
async def content(answer):
    return b"".join([part async for part in answer.streaming_content]).decode()


class TestLines:
    def test_end_when_the_run_has_ended(self, run):
        happening = [
            lambda: claims.claim(run.pk, worker="w", now=timezone.now()),
            lambda: DagRun.objects.filter(pk=run.pk).update(state="success"),
        ]

        async def pause(seconds):
            assert seconds == 2
            await waiting.sync_to_async(happening.pop(0))()

        assert states(said(waiting.lines(run.pk, 2, pause))) == ["queued", "running", "success"]

    def test_say_it_in_airflows_words(self, run):
        DagRun.objects.update(state="cancelled")
        assert states(said(waiting.lines(run.pk, 1))) == ["failed"]

    def test_end_when_the_run_is_deleted(self, run):
        async def pause(_):
            await waiting.sync_to_async(run.delete)()

        assert states(said(waiting.lines(run.pk, 1, pause))) == ["queued"]

    def test_end_after_an_hour(self, run, monkeypatch):
        monkeypatch.setattr(waiting, "LONGEST_WAIT", timedelta(seconds=30))

        async def pause(_):
            pass

        assert states(said(waiting.lines(run.pk, 10, pause))) == ["queued"] * 4


async def come(web, url, token):
    """Each message of an answer, as the web application sends it."""
    path, _, query = url.partition("?")
    headers = [(b"host", b"127.0.0.1"), (b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": path, "headers": headers}
    coming, sent = [{"type": "http.request"}], asyncio.Queue()

    async def receive():
        return coming.pop() if coming else await asyncio.Event().wait()

    asking = asyncio.ensure_future(web(scope | {"query_string": query.encode()}, receive, sent.put))
    try:
        while True:
            message = await asyncio.wait_for(sent.get(), 20)
            yield message
            if message["type"] == "http.response.body" and not message.get("more_body"):
                return
    finally:
        asking.cancel()


@pytest.mark.django_db(transaction=True)
class TestWebApplication:
    def test_sends_a_line_while_the_run_goes_on(self, run, user_of):
        """Nobody has to wait for the last line to see the first."""
        _, token = ApiToken.objects.create(user=user_of(roles.VIEWER), expiry=None)
        web = Threaded(1)

        async def follow():
            bodies, started = [], False
            async for message in come(web, f"{URL}?interval=0.1", token):
                bodies.append(message.get("body", b""))
                if message.get("body") and not started:
                    started = True
                    await waiting.sync_to_async(DagRun.objects.update)(state="success")
            return b"".join(bodies).decode()

        try:
            said = states(asyncio.run(follow()))
            assert (said[0], said[-1]) == ("queued", "success")
        finally:
            DagRun.objects.update(state="success")  # ends what may still be streaming in the thread
            web._threads.submit(connections.close_all).result()
            asyncio.run(waiting.sync_to_async(connections.close_all)())  # where states were looked at


class TestAddress:
    def test_streams_lines(self, api, run):
        DagRun.objects.update(state="failed")
        answer = api.get(f"{URL}?interval=1")
        assert answer.headers["Content-Type"] == "application/x-ndjson"
        assert states(content(answer)) == ["failed"]

    @pytest.mark.parametrize(
        ("url", "status"),
        [
            (URL.replace("/x/", "/y/"), 404),
            (f"{URL}?interval=0", 422),
            (f"{URL}?interval=-1", 422),
            (f"{URL}?interval=nan", 422),
            (f"{URL}?interval=1e9", 422),
        ],
    )
    def test_says_what_is_wrong_before_it_streams(self, api, run, url, status):
        answer = api.get(url)
        assert answer.status_code == status
        assert not answer.streaming
