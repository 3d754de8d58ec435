"""How many requests one token, login or address may make in a minute, counted in the cache.

With Redis the count is one for all processes; without it each process counts for itself.
"""

import logging
from functools import lru_cache
from time import time

from django.conf import settings
from django.core.cache import cache
from redis import Redis
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from partitions_site.models import ApiToken
from partitions_site.tries import address_of

SPAN = 60
log = logging.getLogger(__name__)


class PerCaller(BaseThrottle):
    """So many requests in each minute of the clock."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        if not settings.REQUESTS_PER_MINUTE:
            return True
        self.now = time()
        name = f"requests:{_caller(request)}:{int(self.now // SPAN)}"
        try:
            return _count(name) <= settings.REQUESTS_PER_MINUTE
        except Exception as error:  # a cache that is away must not keep everybody out
            log.warning("requests cannot be counted: the cache does not answer (%s)", error)
            return True

    def wait(self) -> float:
        return SPAN - self.now % SPAN


def _caller(request: Request) -> str:
    if isinstance(request.auth, ApiToken):
        return f"token:{request.auth.token_key}"
    if request.user.is_authenticated:
        return f"login:{request.user.pk}"
    return f"address:{address_of(request._request)}"


def _count(name: str) -> int:
    if settings.REDIS_URL:
        count = int(_redis().incr(f"partita:{name}"))
        if count == 1:  # the name has the minute in it: it is asked for no longer than that
            _redis().expire(f"partita:{name}", 2 * SPAN)
        return count
    cache.add(name, 0, timeout=2 * SPAN)
    try:
        return int(cache.incr(name))
    except ValueError:  # it was thrown out in between
        return 1


@lru_cache
def _redis() -> Redis:
    """One client for all threads; Django's cache would make two for each request, and ask three times."""
    return Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, socket_timeout=5)
