"""A name for each request, on its answer and on every line that is logged while it is answered."""

import logging
import re
import secrets
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

from partitions_site.both_ways import BothWays

HEADER = "X-Request-ID"
ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
"""Names that a proxy may give; any other could write lines of its own into the log."""

NO_REQUEST = "-"
_current: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)


class RequestId(BothWays):
    """Middleware: takes the name that a proxy has given, or makes one."""

    def before(self, request: HttpRequest) -> str:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        name = given if ACCEPTED.fullmatch(given) else secrets.token_hex(8)
        _current.set(name)
        return name

    def after(self, response: HttpResponseBase, mark: str) -> HttpResponseBase:
        response.headers[HEADER] = mark
        return response


class WithoutTrace(logging.Filter):
    """Says in one line what was wrong with a request: how it was refused is no news."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            vars(record).update(dict.fromkeys(("exc_info", "exc_text")))
        return True


class OneLine(logging.Formatter):
    """`%(request_id)s` is the name of the request; a line break in a message makes no second line.

    A traceback keeps its lines: it is what the program says, not who asked.
    """

    def format(self, record: logging.LogRecord) -> str:
        record.request_id = current()
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = "".join(
            each if each.isprintable() else each.encode("unicode_escape").decode() for each in record.message
        )
        return super().formatMessage(record)


def current() -> str:
    """The name of the request under way; `-` outside of one."""
    return _current.get()
