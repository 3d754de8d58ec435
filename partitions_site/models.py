"""What the site itself keeps: grants, tokens with which programs come in, tries to sign in, answers given."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from knox.models import AbstractAuthToken


class Grant(models.Model):
    """A role for what belongs to one group of assets, of a user or of a team, which is a Django group."""

    class Role(models.TextChoices):
        VIEWER = "viewer"
        OPERATOR = "operator"
        EDITOR = "editor"
        ADMIN = "admin"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="grants"
    )
    team = models.ForeignKey(Group, on_delete=models.CASCADE, null=True, blank=True, related_name="grants")
    asset_group = models.CharField(max_length=250)
    role = models.CharField(max_length=10, choices=Role)

    class Meta:
        ordering = ("asset_group", "id")
        constraints = [
            models.CheckConstraint(
                condition=Q(user=None, team__isnull=False) | Q(user__isnull=False, team=None),
                name="a_grant_is_to_a_user_or_to_a_team",
            ),
            models.UniqueConstraint("user", "asset_group", "role", name="a_role_is_granted_to_a_user_once"),
            models.UniqueConstraint("team", "asset_group", "role", name="a_role_is_granted_to_a_team_once"),
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.asset_group} for {self.user or self.team}"


class Identity(models.Model):
    """Who a login is for an OpenID Connect provider: `subject` never changes, whatever a person is called."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=250)
    subject = models.CharField(max_length=255)

    class Meta:
        verbose_name_plural = "identities"
        constraints = [
            models.UniqueConstraint("issuer", "subject", name="a_subject_of_a_provider_is_one_login")
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.subject}"


class ApiToken(AbstractAuthToken):
    """One way in for a program. Only a digest is kept: the token itself is shown once, to whoever made it.

    A `sign_in` row stands behind a web token that `POST /auth/token` gave out: taking the row away ends it.
    `scope` is what it may be used for, of all that its owner may.
    """

    class Kind(models.TextChoices):
        PERSONAL = "personal"
        SIGN_IN = "sign_in"

    class Scope(models.TextChoices):
        READ = "read"
        WRITE = "write"
        ALL = "all"

    name = models.CharField(max_length=100, default="")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSONAL)
    scope = models.CharField(max_length=5, choices=Scope, default=Scope.ALL)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("created",)

    def __str__(self) -> str:
        return f"{self.name or self.kind} of {self.user}"


class SignInTries(models.Model):
    """How many tries to sign in have gone wrong since `began_at`; `digest` says of whom, and tells nobody."""

    digest = models.CharField(max_length=64, primary_key=True)
    count = models.PositiveIntegerField()
    began_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.count} tries"


class GivenAnswer(models.Model):
    """What was answered to a write with an `Idempotency-Key`, to be answered again when it is repeated.

    `request` is a digest of what was asked: another request under the same key is refused.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=250)
    request = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.JSONField(null=True)
    given_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("user", "key", name="an_idempotency_key_is_used_once_per_user")
        ]

    def __str__(self) -> str:
        return self.key
