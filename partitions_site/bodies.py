"""How the body of a request arrives at a web process: whole, and bounded in size and in time."""

import asyncio
import tempfile
from typing import IO, Any

from django.conf import settings

SECONDS = 60.0
"""How long a client may be silent before it has sent all."""


async def received(scope: Any, receive: Any) -> IO[bytes]:
    """The body, at its start; at most one byte more than may be read, so that whoever reads it refuses it.

    `scope` gets the length of a body that came in chunks: REST framework takes one without a length for none.

    :raises ConnectionAbortedError: if the client goes before it has sent all.
    :raises TimeoutError: if it is silent for `SECONDS`.
    """
    most = max(settings.API_BODY_LIMIT, settings.DATA_UPLOAD_MAX_MEMORY_SIZE) + 1
    announced = _announced(scope)
    body: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=settings.FILE_UPLOAD_MAX_MEMORY_SIZE)  # noqa: SIM115
    if announced is not None and announced > most:
        return body  # it is refused for what it says of itself
    try:
        length = await _fill(body, most, receive)
    except BaseException:
        body.close()
        raise
    if announced is None and length:
        scope["headers"] = [*scope["headers"], (b"content-length", b"%d" % length)]
    body.seek(0)
    return body


async def _fill(body: IO[bytes], most: int, receive: Any) -> int:
    """How many bytes were written into `body`."""
    length, is_whole = 0, False
    while not is_whole and length < most:
        async with asyncio.timeout(SECONDS):
            message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionAbortedError
        length += body.write(message.get("body", b"")[: most - length])
        is_whole = not message.get("more_body", False)
    return length


def _announced(scope: Any) -> int | None:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
    return None
