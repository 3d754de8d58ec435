"""Signing in with an OpenID Connect provider, if the settings name one.

1. Authlib asks the provider: authorization code with PKCE, `state` and `nonce` kept in the session; it checks
   the signature of the answer, who it is of and for, and how old it is.
2. A person is who the provider says (`iss` and `sub`), whatever their name or address. One who comes for the
   first time gets a login of their own: a login that is there is theirs only if an installation has said that
   equal verified addresses mean the same person.
3. What groups the provider says they are in decides, at every sign-in, in which mapped groups they are here.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from partitions_site.models import Identity
from scheduling import journal
from scheduling.journal import Deed

SIGNATURES = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""With keys of which only the provider has the secret half: what anybody could sign is no signature."""

RESERVED = ("engine",)
"""Names that the journal gives to others than people."""

SECONDS = 10
MEETINGS = 20
"""How often somebody of the same name may come first at the same moment."""

LONGEST_NAME, LONGEST_SUBJECT = 150, 255

Claims = Mapping[str, Any]


class NotLetIn(Exception):
    """The provider was asked, and whoever came may not come in; says why."""


def is_set() -> bool:
    return bool(settings.OIDC_ISSUER)


def ask(request: HttpRequest, callback: str) -> HttpResponseBase:
    """To the provider, which sends people back to `callback`.

    :raises NotLetIn: if it does not answer.
    """
    try:
        answer: HttpResponseBase = _provider().authorize_redirect(request, callback)
    except _troubles() as error:
        raise NotLetIn("The provider cannot be reached") from error
    return answer


def answered(request: HttpRequest) -> User:
    """Who came back from the provider.

    :raises NotLetIn: if it is nobody, or nobody that may come in.
    """
    try:
        provider = _provider()
        told = provider.authorize_access_token(request, claims_options=_expected(provider))
    except _troubles() as error:
        raise NotLetIn("The provider's answer was not accepted: try again") from error
    claims = told.get("userinfo")
    subject = claims.get("sub") if claims else None
    if not (isinstance(subject, str) and 0 < len(subject) <= LONGEST_SUBJECT and subject.isprintable()):
        raise NotLetIn("The provider did not say who you are")
    return person(claims)


def person(claims: Claims) -> User:
    """The login of whoever `claims` are about, in the groups that these say.

    :raises NotLetIn: if it is shut, or they are in none of the groups that come in.
    """
    for _ in range(MEETINGS):
        try:
            return _person(claims)
        except IntegrityError:  # they came twice at one moment, or somebody of the same name did
            continue
    return _person(claims)


@transaction.atomic
def _person(claims: Claims) -> User:
    groups = _groups(claims)
    if settings.OIDC_GROUPS and not groups:
        raise NotLetIn("You are in none of the groups that may come in here")
    known = Identity.objects.filter(issuer=settings.OIDC_ISSUER, subject=claims["sub"])
    identity = known.select_related("user").first()
    user = identity.user if identity else _newcomer(claims)
    if not user.is_active:
        raise NotLetIn("This login is shut")
    _put_into(user, groups)
    return user


def _newcomer(claims: Claims) -> User:
    user = _by_address(claims)
    event = "login linked" if user else "login made"
    user = user or _made(claims)
    Identity.objects.create(issuer=settings.OIDC_ISSUER, subject=claims["sub"], user=user)
    _note(event, user, issuer=settings.OIDC_ISSUER, subject=claims["sub"][:250])
    return user


def _by_address(claims: Claims) -> User | None:
    """The one login of the same verified address, if that may be theirs and is nobody's yet."""
    address = _address(claims)
    if not settings.OIDC_LINK_BY_EMAIL or not address:
        return None
    found = list(User.objects.filter(email__iexact=address)[:2])
    taken = Identity.objects.filter(issuer=settings.OIDC_ISSUER, user__in=found).exists()
    return found[0] if len(found) == 1 and not taken else None


def _made(claims: Claims) -> User:
    # As Django will write it: letters that look alike are the same, and so is a name that is taken.
    wanted = User.normalize_username(
        str(claims.get("preferred_username") or _address(claims) or claims["sub"])
    )
    name = (
        "".join(each for each in wanted if each.isalnum() or each in "@.+-_")[: LONGEST_NAME - 10] or "login"
    )
    free, number = name, 1
    while free.lower() in RESERVED or User.objects.filter(username__iexact=free).exists():
        number += 1
        free = f"{name}-{number}"
    return User.objects.create_user(free, email=_address(claims))


def _address(claims: Claims) -> str:
    """Their address, if the provider has verified it."""
    address = claims.get("email")
    return address if isinstance(address, str) and claims.get("email_verified") is True else ""


def _groups(claims: Claims) -> set[str]:
    """The groups here that the groups there stand for."""
    said = claims.get(settings.OIDC_GROUPS_CLAIM)
    names = [said] if isinstance(said, str) else said if isinstance(said, list) else []
    mapped: Mapping[str, str] = settings.OIDC_GROUPS
    return {mapped[name] for name in names if isinstance(name, str) and name in mapped}


def _put_into(user: User, names: set[str]) -> None:
    """Be in just those of the mapped groups; others are left alone."""
    mapped = Group.objects.filter(name__in=settings.OIDC_GROUPS.values())
    before = set(user.groups.filter(pk__in=mapped).values_list("name", flat=True))
    after = set(mapped.filter(name__in=names).values_list("name", flat=True))
    if before != after:
        user.groups.remove(*mapped.exclude(name__in=after))
        user.groups.add(*mapped.filter(name__in=after))
        _note("login put into groups", user, was=sorted(before), now=sorted(after))


def _note(event: str, user: User, **more: Any) -> None:
    said = Deed(by=user.get_username(), via="oidc")
    journal.note(event, deed=said, at=timezone.now(), login=user.get_username(), **more)


def _expected(provider: Any) -> dict[str, Any]:
    """Who the answer must be of and for; and that it must be signed as only the provider can.

    :raises NotLetIn: if the provider calls itself otherwise than the settings do.
    """
    metadata = provider.load_server_metadata()
    if str(metadata.get("issuer")).rstrip("/") != settings.OIDC_ISSUER.rstrip("/"):
        raise NotLetIn("The provider calls itself otherwise than the settings of this site do")
    metadata["id_token_signing_alg_values_supported"] = list(SIGNATURES)
    return {
        "iss": {"essential": True, "values": [metadata["issuer"]]},
        "aud": {"essential": True, "values": [settings.OIDC_CLIENT_ID]},
    }


@lru_cache
def _provider() -> Any:
    """Authlib's client of the provider; made when somebody first comes that way."""
    from authlib.integrations.django_client import OAuth

    made: Any = OAuth().register(
        "oidc",
        client_id=settings.OIDC_CLIENT_ID,
        client_secret=settings.OIDC_CLIENT_SECRET,
        server_metadata_url=f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid email profile",
            "code_challenge_method": "S256",
            "default_timeout": SECONDS,
        },
    )
    return made


def _troubles() -> tuple[type[Exception], ...]:
    """What Authlib raises for an answer that is wrong, late or none."""
    from authlib.common.errors import AuthlibBaseError
    from joserfc.errors import JoseError
    from requests import RequestException

    return AuthlibBaseError, JoseError, RequestException, RuntimeError, ValueError, KeyError
