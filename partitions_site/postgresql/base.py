import select
from typing import Any

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

    def prepared_cursor(self) -> Any:
        """A cursor whose statements the server keeps, once they have come `prepare_threshold` times.

        Django's own put the values into the text of a statement, which is then another one each time.
        """
        self.close_if_health_check_failed()
        self.ensure_connection()
        with self.wrap_database_errors:
            return self._prepare_cursor(base.ServerBindingCursor(self.connection))  # type: ignore[attr-defined,call-arg]
