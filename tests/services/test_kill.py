"""Everything is killed with work queued; started again, all of it finishes and none of it twice."""

from collections import Counter

import pytest

from tests import servers
from tests.services.shop import (
    KEYS,
    RUNS,
    Shop,
    assert_all_done_once,
    assert_none_executed_twice,
    wait_until_done,
)

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def shop(request, tmp_path):
    """`request.param` names what the installation stands on; SQLite needs no name.

    Where no worker is lost, leases are long: one that a busy machine keeps waiting is not taken for lost.
    """
    environment = {"PARTITA_LEASE_SECONDS": "120"} if "in good order" in request.param else {}
    if "postgres" in request.param:
        environment["DATABASE_URL"] = request.getfixturevalue("postgres_url")
    if "redis" in request.param:
        environment["REDIS_URL"] = request.getfixturevalue("redis_url")
    shop = Shop(tmp_path, environment)
    shop.installation.start()
    yield shop
    shop.installation.kill_everything()


class TestKill:
    @pytest.mark.parametrize("shop", ["sqlite", "postgres and redis"], indirect=True)
    def test_all_work_finishes_after_two_kills_and_none_is_done_twice(self, shop):
        shop.ask_for(KEYS)
        for least in (10, 40):
            shop.installation.wait_for(lambda least=least: shop.finished() >= least)
            shop.installation.kill_everything()
            finished = [f"{dag_id} {key}" for dag_id, key, state in shop.rows(RUNS) if state == "success"]
            noted = Counter(shop.noted())
            shop.installation.start()
        wait_until_done(shop)
        assert_all_done_once(shop)
        again = Counter(shop.noted()) - noted
        assert not [done for done in finished if done in again], "a finished run was executed again"

    @pytest.mark.parametrize(
        "shop",
        [f"{each} in good order" for each in ("sqlite", "postgres alone", "postgres and redis")],
        indirect=True,
    )
    def test_a_stop_in_good_order_repeats_nothing(self, shop):
        shop.ask_for(KEYS)
        shop.installation.wait_for(lambda: shop.finished() >= 10)
        assert shop.installation.interrupt() == 0
        shop.installation.wait_for(lambda: not shop.installation.processes())
        shop.installation.start()
        wait_until_done(shop)
        assert_all_done_once(shop)
        assert_none_executed_twice(shop)


class TestBrokerThatDies:
    def test_redis_may_lose_all_its_messages(self, tmp_path, postgres_url):
        """Requests are answered while it is away; when it is back, the sweep finds what nobody announced."""
        port = servers.free_port()
        url = f"redis://127.0.0.1:{port}/0"
        shop = Shop(tmp_path, {"DATABASE_URL": postgres_url, "REDIS_URL": url})
        try:
            with servers.private_redis(port):
                shop.installation.start()
                shop.ask_for(KEYS[:20])
                shop.installation.wait_for(lambda: shop.finished() >= 4)
            shop.ask_for(KEYS[20:])
            with servers.private_redis(port):
                wait_until_done(shop)
                assert_all_done_once(shop)
                assert_none_executed_twice(shop)
                assert shop.installation.interrupt() == 0
        finally:
            shop.installation.kill_everything()
