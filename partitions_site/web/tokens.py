"""Personal tokens: one's own, and for admins everybody's. A token itself is shown once, when it is made."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from partitions_site import tokens as engine
from partitions_site.models import ApiToken
from partitions_site.web import confirm
from partitions_site.web.confirm import Question
from partitions_site.web.http import HtmxRequest, answer, deed, go, later, whole

SCOPES = (
    (ApiToken.Scope.READ, "reading only"),
    (ApiToken.Scope.WRITE, "what operators do"),
    (ApiToken.Scope.ALL, "all that I may"),
)
LIVES = ((30, "30 days"), (90, "90 days"), (365, "a year"), (0, "until it is revoked"))


@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HtmxRequest) -> HttpResponse:
    """The tokens; POST makes one and shows it, this once."""
    if request.method != "POST":
        return _show(request)
    name, scope = request.POST.get("name", "").strip(), request.POST.get("scope", "")
    days = whole(request.POST.get("days"), 90)
    problem = _problem(name, scope, days)
    if problem:
        return _show(request, problem=problem, status=422)
    life = timedelta(days=days) if days else None
    row, secret = engine.make(
        request.user, name, scope=scope, life=life, deed=deed(request), at=timezone.now()
    )
    response = _show(request, made=row, secret=secret)
    response.headers["Cache-Control"] = "no-store"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def revoke(request: HtmxRequest, token_key: str) -> HttpResponse:
    """End one at once."""
    row = get_object_or_404(engine.revocable_by(request.user), token_key=token_key)
    whose = "" if row.user == request.user else f", which is {row.user.get_username()}'s"
    question = Question(
        title="Revoke this token?",
        sentences=(f"Whatever uses {row.name or token_key}{whose} is refused from now on.",),
        button="Revoke token",
        back=_address(everybodys=row.user != request.user),
        is_grave=True,
    )
    if request.method != "POST":
        return confirm.ask(request, question)
    engine.revoke(row, deed=deed(request), at=timezone.now())
    messages.success(request, f"Revoked {row.name or token_key}.")
    return go(request, question.back)


def _problem(name: str, scope: str, days: int) -> str:
    if not name or len(name) > engine.LONGEST_NAME:
        return f"Say what it is for, in at most {engine.LONGEST_NAME} letters"
    if scope not in ApiToken.Scope.values:
        return "Say what it may be used for"
    return f"It lives for {engine.MOST_DAYS} days at most" if days > engine.MOST_DAYS else ""


def _show(
    request: HtmxRequest,
    *,
    problem: str = "",
    made: ApiToken | None = None,
    secret: str = "",
    status: int = 200,
) -> HttpResponse:
    may_see_all = request.user.has_perm(engine.SEE_ALL)
    everybodys = may_see_all and request.GET.get("of") == "all"
    context: dict[str, Any] = {
        "rows": later(lambda: list(engine.everybodys() if everybodys else engine.of(request.user))),
        "everybodys": everybodys,
        "may_see_all": may_see_all,
        "problem": problem,
        "made": made,
        "secret": secret,
        "scopes": SCOPES,
        "lives": LIVES,
        "given": request.POST,
    }
    return answer(request, "tokens/list.html", "tokens/_rows.html", context, status=status)


def _address(*, everybodys: bool) -> str:
    return f"{reverse('tokens')}{'?of=all' if everybodys else ''}"
