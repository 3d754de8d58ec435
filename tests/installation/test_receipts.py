"""What becomes of messages in hand when the connection to Redis is lost, as a worker loses it."""

import pytest
from kombu import Connection
from kombu.transport import redis

from partitions_site import broker


@pytest.fixture
def connection(redis_url, monkeypatch):
    monkeypatch.setattr(redis.Channel, "QoS", redis.Channel.QoS)
    broker.outlive()
    with Connection(redis_url) as connection:
        queue = connection.SimpleQueue("work")
        queue.put("one")
        queue.put("two")
        yield connection


def taken(connection):
    return connection.SimpleQueue("work").get(timeout=5)


def lose(connection):
    """What a worker that lost its connection does first: it drops it, and forgets to whom it was."""
    connection.default_channel._disconnect_pools()
    connection.default_channel.connection.client = None


class TestLostConnection:
    def test_does_not_take_the_answer_for_a_message(self, connection):
        message = taken(connection)
        lose(connection)
        message.ack()
        assert message.acknowledged

    def test_does_not_take_a_refusal_either(self, connection):
        message = taken(connection)
        lose(connection)
        message.requeue()
        assert message.acknowledged

    def test_is_closed_without_what_it_had_in_hand(self, connection):
        message = taken(connection)
        lose(connection)
        message.channel.close()
        assert message.channel.closed


class TestConnection:
    def test_takes_the_answer(self, connection, redis_url):
        taken(connection).ack()
        with Connection(redis_url) as another:
            assert taken(another).payload == "two"
            assert another.default_channel.client.hlen("unacked") == 1

    def test_that_is_closed_in_good_order_gives_back_what_it_had(self, connection, redis_url):
        message = taken(connection)
        message.channel.close()
        with Connection(redis_url) as another:
            assert sorted(taken(another).payload for _ in range(2)) == ["one", "two"]
