"""What the site itself keeps: tokens with which programs come in."""

from django.db import models
from knox.models import AbstractAuthToken


class ApiToken(AbstractAuthToken):
    """One way in for a program. Only a digest is kept: the token itself is shown once, to whoever made it.

    A `sign_in` row stands behind a web token that `POST /auth/token` gave out: taking the row away ends it.
    """

    class Kind(models.TextChoices):
        PERSONAL = "personal"
        SIGN_IN = "sign_in"

    name = models.CharField(max_length=100, default="")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSONAL)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("created",)

    def __str__(self) -> str:
        return f"{self.name or self.kind} of {self.user}"
