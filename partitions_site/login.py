"""The first login of an installation."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import User

DEFAULT_NAME = "admin"


@dataclass(frozen=True, slots=True)
class Login:
    """Who may come in. `password` is what to show of it: itself only if it was made up just now."""

    name: str
    password: str


def ensure_login(given: tuple[str, str] | None = None) -> Login:
    """Create the login that `given` names, or `admin` with a random password if nobody can enter.

    A login that exists keeps its password.
    """
    if given is None:
        owner = User.objects.filter(is_superuser=True, is_active=True).order_by("id").first()
        if owner:
            return _as_before(owner.username)
    name, password = given or (DEFAULT_NAME, secrets.token_urlsafe(9))
    if User.objects.filter(username=name).exists():
        return _as_before(name)
    User.objects.create_superuser(name, password=password)
    return Login(name, "(the one that was given)" if given else password)


def _as_before(name: str) -> Login:
    return Login(name, f"(as before; ./partita changepassword {name} sets a new one)")
