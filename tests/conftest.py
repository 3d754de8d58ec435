"""What all tests share: a fast password hash. Services come from `tests/services.py`."""

from django.conf import settings


def pytest_configure() -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
