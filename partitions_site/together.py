"""One piece of work for all who ask for the same kind of it at the same moment.

1. Whoever asks says what, and waits until nobody in this process works.
2. The first of them then works for all who have asked by then; the others find their answers. Before that it
   waits for those who are on their way, but not for long: the more there are, the less each costs.
3. If that fails, each is tried alone, so that nobody gets the error of another. Unless the database has gone:
   what it has committed nobody can tell, and doing it again could do it twice. Of a deadlock one can tell.
"""

from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Condition, Lock, local
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

from core import locks

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Name = TypeVar("Name", bound=Hashable)


class Together(Generic[Asked, Answer]):
    """Calls of `work` with one thing each, from many threads, as few calls with several.

    `work` gives an answer to each of what it is asked, in order, or fails and has done nothing. It works in
    the thread of one of those who ask, who must not be in a transaction.

    :param patience: how many seconds whoever works waits for those who are `coming`.
    """

    def __init__(self, work: Callable[[list[Asked]], list[Answer]], *, patience: float = 0) -> None:
        self._work, self._patience = work, patience
        self._waiting: list[tuple[Asked, Future[Answer]]] = []
        self._arriving, self._working = Condition(Lock()), Lock()
        self._coming = 0
        self._mine = local()

    @contextmanager
    def coming(self) -> Iterator[None]:
        """Whoever is in here will ask, as a rule: it is worth a moment to work for them, too."""
        with self._arriving:
            self._coming += 1
        self._mine.is_coming = True
        try:
            yield
        finally:
            self._arrive()

    def __call__(self, asked: Asked) -> Answer:
        turn: Future[Answer] = Future()
        with self._arriving:
            self._waiting.append((asked, turn))
        self._arrive()
        with self._working:
            if not turn.done():
                self._answer(self._take())
        return turn.result()

    def _arrive(self) -> None:
        """This thread has asked, or it will not: nobody waits for it any longer."""
        if getattr(self._mine, "is_coming", False):
            self._mine.is_coming = False
            with self._arriving:
                self._coming -= 1
                self._arriving.notify()

    def _take(self) -> list[tuple[Asked, Future[Answer]]]:
        with self._arriving:
            self._arriving.wait_for(lambda: not self._coming, self._patience)
            turns, self._waiting = self._waiting, []
        return turns

    def _answer(self, turns: list[tuple[Asked, Future[Answer]]]) -> None:
        try:
            answers = self._work([asked for asked, _ in turns])
        except BaseException as error:
            if len(turns) > 1 and _has_done_nothing(error):
                for each in turns:
                    self._answer([each])
                return
            for _, turn in turns:
                turn.set_exception(error)
        else:
            for (_, turn), answer in zip(turns, answers, strict=True):
                turn.set_result(answer)


def once_for_all(look: Callable[[Name], Answer]) -> Together[Name, Answer]:
    """`look` that changes nothing, once for all who ask for the same name at the same moment.

    They share what it gives. It begins after the last of them has asked: none gets what was so before.
    """

    def work(names: list[Name]) -> list[Answer]:
        found = {name: look(name) for name in dict.fromkeys(names)}
        return [found[name] for name in names]

    return Together(work)


def _has_done_nothing(error: BaseException) -> bool:
    if isinstance(error, OperationalError | InterfaceError):
        return locks.was_undone(error)
    return isinstance(error, Exception)
