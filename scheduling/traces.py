"""What is told of an error in code of authors: from their first frame on, and no longer than is read."""

import traceback

from scheduling.runlog import storable

LONGEST = 50_000


def trace_of(error: BaseException, *, caller: str) -> str:
    """The traceback, from the first frame that is not of the file `caller` on; of a long one both ends."""
    shown = traceback.TracebackException.from_exception(error)
    frames = list(shown.stack)
    skip = next((place for place, frame in enumerate(frames) if frame.filename != caller), len(frames))
    shown.stack = traceback.StackSummary.from_list(frames[skip:])
    text = storable("".join(shown.format()).rstrip())
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}\n…\n{text[-LONGEST // 2 :]}"
