"""The first login of an installation."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import User

DEFAULT_NAME = "admin"


@dataclass(frozen=True, slots=True)
class Login:
    """A name and, if the login was made just now, its password."""

    name: str
    password: str | None


def ensure_login(given: tuple[str, str] | None = None) -> Login:
    """Create the login that `given` names, or `admin` with a random password if nobody can enter.

    A login that exists keeps its password.
    """
    if given is None:
        owner = User.objects.filter(is_superuser=True, is_active=True).order_by("id").first()
        if owner:
            return Login(owner.username, None)
    name, password = given or (DEFAULT_NAME, secrets.token_urlsafe(9))
    if User.objects.filter(username=name).exists():
        return Login(name, None)
    User.objects.create_superuser(name, password=password)
    return Login(name, password)
