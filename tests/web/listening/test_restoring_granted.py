"""A role for one group of assets takes no schedule back that names an asset of another group."""

import pytest
from django.utils import timezone

from core.models import Dag, ScheduleOverride
from partitions_site import roles
from scheduling import configuration
from scheduling.configuration import history
from scheduling.journal import Deed
from tests.api.groups import MARK, OURS, granted
from tests.engine.world import IDENTITY, asset, consumer, emit, turn

pytestmark = pytest.mark.django_db
URL = "/listening?dag=sum"
ROOT = Deed(by="root", via="web", reason="not for them")


@pytest.fixture
def row() -> Dag:
    """A Dag of ours that somebody had cease to listen to an asset of theirs, which has a key."""
    asset("ours_in", group=OURS)
    asset("ours_out", group=OURS)
    asset("theirs_in", group=MARK)
    both = consumer("sum", {"ours_in": IDENTITY, "theirs_in": IDENTITY}, join="any", writes=["ours_out"])
    emit("ours_in", "our_key", at=timezone.now())
    turn(timezone.now())
    without = both.schedule | {
        "assets": {"asset": "ours_in"},
        "mapper_config": both.schedule["mapper_config"][:1],
    }
    configuration.change_schedule(both, without, deed=ROOT, at=timezone.now(), revision=both.revision)
    emit("theirs_in", "their_key", at=timezone.now())
    both.refresh_from_db()
    return both


@pytest.fixture
def ann(client):
    client.force_login(granted(roles.ADMIN))
    return client


def form(row, act, **fields):
    version = history.versions(row)[0].pk
    return {"act": act, "version": version, "revision": row.revision, "reason": "r"} | fields


class TestWhoMayNotSeeTheAsset:
    @pytest.mark.parametrize("seen", ["", "yes"])
    def test_does_not_take_the_change_back(self, ann, row, seen):
        answer = ann.post(URL, form(row, "revert", seen=seen))
        assert answer.status_code == 403
        assert "their_key" not in answer.content.decode()
        row.refresh_from_db()
        assert row.schedule["assets"] == {"asset": "ours_in"}

    def test_goes_back_to_code_without_seeing_a_key_of_it(self, ann, row):
        shown = ann.post(URL, form(row, "back")).content.decode()
        assert "our_key" in shown
        assert "their_key" not in shown
        assert "keys that may be of it are counted and not named" in shown
        assert ann.post(URL, form(row, "back", seen="yes")).status_code == 302
        assert not ScheduleOverride.objects.exists()


class TestWhoMaySeeIt:
    @pytest.mark.parametrize("act", ["back", "revert"])
    def test_is_shown_its_keys_and_takes_it_back(self, ann, row, act):
        granted(roles.ADMIN, MARK)
        ann.force_login(granted(roles.ADMIN))
        shown = ann.post(URL, form(row, act)).content.decode()
        assert "their_key" in shown
        assert "counted and not named" not in shown
        assert ann.post(URL, form(row, act, seen="yes")).status_code == 302
        row.refresh_from_db()
        assert "any" in row.schedule["assets"]
