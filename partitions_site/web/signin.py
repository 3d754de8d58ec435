"""Coming in, going out, and the theme, which is all a page remembers of a person."""

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from partitions_site import oidc, tries
from partitions_site.tries import TooManyTries, Try
from partitions_site.web.addresses import check_can_be_stored
from partitions_site.web.http import THEMES, HtmxRequest, answer

A_YEAR = 365 * 24 * 3600
ONWARD = "oidc_onward"


class SignInForm(AuthenticationForm):
    """Django's, in the words of the page: it asks for a name."""

    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": "This name and this password do not belong together. Capital letters count in both.",
    }


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HtmxRequest) -> HttpResponse:
    """A name and a password; then back to the page that was asked for."""
    check_can_be_stored(request)
    onward = _onward(request, request.POST.get("next") or request.GET.get("next", ""))
    if request.user.is_authenticated:
        return HttpResponseRedirect(onward)
    attempt = Try(request.POST.get("username", ""), tries.address_of(request))
    form = SignInForm(request, data=request.POST or None)
    try:
        if form.is_bound:
            tries.count(attempt, at=timezone.now())
    except TooManyTries as refusal:
        return _not_now(request, refusal, onward)
    if form.is_valid():
        tries.forgive(attempt)
        auth.login(request, form.get_user())
        return HttpResponseRedirect(onward)
    context = {"form": form, "next": onward, "oidc_name": _oidc_name()}
    return answer(request, "signin/sign_in.html", (), context, status=422 if form.is_bound else 200)


@never_cache
@require_safe
def elsewhere(request: HtmxRequest) -> HttpResponseBase:
    """To the OpenID Connect provider of the settings."""
    if not oidc.is_set():
        raise Http404
    request.session[ONWARD] = _onward(request, request.GET.get("next", ""))
    try:
        return oidc.ask(request, request.build_absolute_uri(reverse("oidc_callback")))
    except oidc.NotLetIn as refusal:
        return _refused(request, str(refusal), status=502)


@never_cache
@require_safe
def back_from_elsewhere(request: HtmxRequest) -> HttpResponse:
    """Where the provider sends people back to."""
    if not oidc.is_set():
        raise Http404
    onward = _onward(request, request.session.pop(ONWARD, ""))
    try:
        user = oidc.answered(request)
    except oidc.NotLetIn as refusal:
        return _refused(request, str(refusal), status=403)
    auth.login(request, user)
    return HttpResponseRedirect(onward)


@never_cache
@require_http_methods(["GET", "HEAD"])
def admin_sign_in(request: HtmxRequest) -> HttpResponse:
    """Django's admin sends those here who may not come in; another sign-in would not change that.

    :raises PermissionDenied: with a sentence, for them; Django makes a page of it.
    """
    if not request.user.is_authenticated:
        return HttpResponseRedirect(f"{reverse('login')}?{request.META.get('QUERY_STRING', '')}")
    if request.user.is_staff:
        return HttpResponseRedirect(reverse("admin:index"))
    raise PermissionDenied(
        f"{request.user.get_username()} has no staff status, which Administration asks for"
    )


@require_POST
def sign_out(request: HtmxRequest) -> HttpResponse:
    auth.logout(request)
    return HttpResponseRedirect("/")


@require_POST
def change_theme(request: HtmxRequest) -> HttpResponse:
    """Keep the chosen theme in a cookie; live.js has changed the page already where scripts run."""
    check_can_be_stored(request)
    response = HttpResponseRedirect(_onward(request, request.POST.get("next", "")))
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie("theme", chosen, max_age=A_YEAR, samesite="Lax")
    else:
        response.delete_cookie("theme")
    return response


def _not_now(request: HtmxRequest, refusal: TooManyTries, onward: str) -> HttpResponse:
    """The password is not looked at: whether it was right stays unknown."""
    form = SignInForm(request, initial={"username": request.POST.get("username", "")})
    context = {"form": form, "next": onward, "refusal": refusal, "oidc_name": _oidc_name()}
    response = answer(request, "signin/sign_in.html", (), context, status=429)
    response.headers["Retry-After"] = str(refusal.seconds)
    return response


def _refused(request: HtmxRequest, sentence: str, *, status: int) -> HttpResponse:
    """Back at the sign-in page, with why."""
    context = {
        "form": SignInForm(request),
        "next": "/",
        "refusal": sentence,
        "oidc_name": _oidc_name(),
    }
    return answer(request, "signin/sign_in.html", (), context, status=status)


def _oidc_name() -> str:
    return settings.OIDC_NAME if oidc.is_set() else ""


def _onward(request: HtmxRequest, address: str) -> str:
    """`address` if it is on this site: a link to the sign-in page must not send people elsewhere."""
    safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if safe else "/"
