"""Lets a worker outlive its broker.

When Redis goes away, the worker drops its connection and makes another. Messages that it has in hand belong
to the old one: kombu tries to give them back there, or to acknowledge them when their task ends, no longer
finds the address of its server, and the AttributeError ends the worker. Nothing is lost with such a message:
what is left to do are rows, and Redis sends it once more if it still has it.
"""

from typing import Any

from kombu.transport import redis, virtual


class Receipts(redis.QoS):
    """What a channel has delivered and nobody has acknowledged. Forgets it with the connection."""

    def restore_unacked(self, client: Any = None) -> None:
        if self._is_connected:
            super().restore_unacked(client)
        else:
            self._delivered.clear()

    def ack(self, delivery_tag: str) -> None:
        if self._is_connected:
            super().ack(delivery_tag)
        else:
            virtual.QoS.ack(self, delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        if self._is_connected:
            super().reject(delivery_tag, requeue)
        else:
            virtual.QoS.ack(self, delivery_tag)

    @property
    def _is_connected(self) -> bool:
        transport = self.channel.connection
        return transport is not None and transport.client is not None


def outlive() -> None:
    """From now on, this process goes on without the messages of a connection that is lost."""
    redis.Channel.QoS = Receipts
