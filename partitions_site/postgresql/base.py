import select

from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    def is_usable(self) -> bool:
        """A server that has ended the connection has said so, in which case there is something to read.

        Then it is asked, as Django asks it before every request. A server that fell silent is noticed by the
        statement that comes next, as it would be by one that came after the question.
        """
        if self.connection is None or self.connection.closed:
            return False
        waiting = select.poll()
        waiting.register(self.connection.fileno(), select.POLLIN | select.POLLHUP | select.POLLERR)
        return not waiting.poll(0) or super().is_usable()
