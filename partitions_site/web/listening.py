"""How a Dag listens: what counts and who says so, a form to change it, and what a change would do.

One address: GET shows it, POST of the form looks at what it says or saves it. Nothing is kept in between, so
that what was typed is still there when somebody else was faster.
"""

import json
from contextlib import suppress
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from core.models import Dag
from partitions_site import grants, refusals
from partitions_site.web import formspecs, specforms
from partitions_site.web.http import HtmxRequest, answer, deed, found, go, later, sight_of, whole
from partitions_site.web.proposals import Proposal, left_held, name_of, proposed
from scheduling import configuration
from scheduling.algebra import condition_specs
from scheduling.algebra.differences import differences
from scheduling.algebra.errors import InvalidDefinition, PartitionError
from scheduling.belonging import Sight
from scheduling.configuration import StaleSchedule, history
from scheduling.configuration.problems import Problem
from scheduling.configuration.telling import Told
from scheduling.configuration.trying import MOST_KEYS

CHANGE = "core.change_scheduleoverride"
LONG = 60_000
"""Bytes of a schedule that is shown unasked, as a form and as JSON."""

PARTS = ("dags/_editor.html", "dags/_proposal.html")


@require_http_methods(["GET", "HEAD", "POST"])
def listening(request: HtmxRequest) -> HttpResponse:
    """How a Dag listens. Whoever has signed in may look; to change it needs the role admin."""
    if request.method == "POST" and not grants.may_somewhere(request.user, CHANGE):
        raise PermissionDenied(refusals.why_not(request.user, CHANGE))
    row = found(request, Dag.objects, dag_id=request.GET.get("dag", ""))
    if request.method == "POST" and not request.user.has_perm(CHANGE, row):
        raise PermissionDenied(refusals.why_not(request.user, CHANGE, row))
    if request.method != "POST":
        return _show(request, row, proposed(row, row.schedule, _keys(request.GET.get("keys", ""))))
    act = request.POST.get("act", "look")
    if act in ("back", "revert"):
        return _restore(request, row, act)
    asked = _asked(request)
    with suppress(PartitionError):  # one that cannot be read: the page says where it is wrong
        grants.check_schedule(request.user, row, asked)
    proposal = proposed(row, asked, _keys(request.POST.get("keys", "")))
    proposal.typed = _typed(request)
    return _save(request, row, proposal) if act == "save" else _show(request, row, proposal)


def _save(request: HtmxRequest, row: Dag, proposal: Proposal) -> HttpResponse:
    try:
        if proposal.typed:
            raise InvalidDefinition("the JSON was changed, and the form was not: fill the form with it first")
        changed = configuration.change_schedule(
            row,
            proposal.spec,
            deed=deed(request),
            at=timezone.now(),
            revision=whole(request.POST.get("revision")),
        )
    except PartitionError as refusal:
        return _refused(request, row, proposal, refusal)
    said = "listens as you said from now on" if changed else "listens so already: nothing was changed"
    messages.success(request, f"{row.dag_id} {said}.")
    return go(request, _address(row))


def _restore(request: HtmxRequest, row: Dag, act: str) -> HttpResponse:
    """Back to what the file says, or to what was before one change: what that does is shown first."""
    refusal: PartitionError | None = None
    try:
        if request.POST.get("seen") == "yes":
            return _taken_back(request, row, act)
    except PartitionError as error:
        refusal = error
        row.refresh_from_db()
    try:
        proposal = _restoring(request, row, act)
    except InvalidDefinition as gone:
        return _refused(request, row, proposed(row, row.schedule, ()), gone)
    proposal.problem = str(refusal or "")
    return _show(request, row, proposal, status=_status(refusal), restores=act)


def _taken_back(request: HtmxRequest, row: Dag, act: str) -> HttpResponse:
    spec, said = _restored(request, row, act), deed(request)
    at, revision = timezone.now(), whole(request.POST.get("revision"))
    if act == "back":
        configuration.back_to_code(row, deed=said, at=at, revision=revision)
    else:
        configuration.change_schedule(row, spec, deed=said, at=at, revision=revision)
    messages.success(
        request, f"{row.dag_id} listens {'as its file says' if act == 'back' else 'as before'} from now on."
    )
    return go(request, _address(row))


def _restoring(request: HtmxRequest, row: Dag, act: str) -> Proposal:
    """What would be there again. Of assets that are not shown, which a file may name, no key is named."""
    spec, hidden = _restored(request, row, act), set[str]()
    with suppress(PartitionError):  # one that cannot be read: the page says where it is wrong
        hidden = {each.name for each in grants.unseen(request.user, row, spec) if each}
    if spec is None:
        return left_held(row)
    return proposed(row, spec, (), hidden=hidden)


def _restored(request: HtmxRequest, row: Dag, act: str) -> Any:
    """The schedule that is asked for again. What its file says is for whoever may change it at all.

    :raises InvalidDefinition: if the journal does not hold the change that is to be taken back.
    :raises PermissionDenied: if that one names an asset which whoever asks is not shown.
    """
    if act == "back":
        return configuration.told(row).code
    version = history.version(row, whole(request.POST.get("version")))
    if version is None:
        raise InvalidDefinition("the journal does not hold that change any more")
    with suppress(PartitionError):  # one that cannot be read: it is refused where it is used
        grants.check_schedule(request.user, row, version.was)
    return version.was


def _refused(request: HtmxRequest, row: Dag, proposal: Proposal, refusal: PartitionError) -> HttpResponse:
    """The same page again, with what was typed, beside what there is now."""
    row.refresh_from_db()
    again = proposed(row, proposal.spec, proposal.keys)
    again.problem, again.typed = str(refusal), proposal.typed
    return _show(request, row, again, status=_status(refusal))


def _status(refusal: PartitionError | None) -> int:
    if refusal is None:
        return 200
    return 409 if isinstance(refusal, StaleSchedule) else 422


def _show(
    request: HtmxRequest, row: Dag, proposal: Proposal, *, status: int = 200, restores: str = ""
) -> HttpResponse:
    """:param restores: `back` or `revert` where the proposal is to be taken as it is, or left."""
    told: Told = configuration.told(row)
    if proposal.trouble and not request.htmx:
        # Where a part of the page is asked for, listening.js lets the field say it, and take it back.
        specforms.point(proposal.form, proposal.refused_at, proposal.trouble, proposal.pointed)
    context = {
        "dag": row,
        "told": told,
        "proposal": proposal,
        "new_problems": later(proposal.new_problems, told),
        "mended": later(proposal.mended, told),
        "fed": later(_fed, proposal, sight_of(request)),
        "may_change": (may_change := request.user.has_perm(CHANGE, row) and told.is_changeable),
        "may_edit": may_change and not restores,
        "restores": restores,
        "code_differences": later(lambda: differences(told.code, told.schedule)),
        "reason": request.POST.get("reason", ""),
        "hides": _hidden(request, told),
        "keys": "\n".join(proposal.keys),
        "assets": later(
            lambda: [condition_specs.words(each.leaf) for each in row.dependencies.order_by("pk")]
        ),
    }
    return answer(request, "dags/listening.html", PARTS, context, status=status)


def _hidden(request: HtmxRequest, told: Told) -> int:
    """How many characters a schedule has that is too long to be shown unasked; 0 where it is shown."""
    if request.method == "POST" or request.GET.get("whole") == "yes":
        return 0
    text = json.dumps(told.schedule, ensure_ascii=False)
    return len(text) if len(text.encode()) > LONG else 0


def _fed(proposal: Proposal, sight: Sight) -> list[tuple[str, Problem]]:
    """New problems of Dags that this one feeds, of those that are shown."""
    new = proposal.preview.elsewhere if proposal.preview else ()
    dags = Dag.objects.filter(sight.dags(), dag_id__in=[name for name, _ in new])
    shown = set(dags.values_list("dag_id", flat=True))
    return [(name, problem) for name, problem in new if name in shown]


def _asked(request: HtmxRequest) -> Any:
    """The spec that was sent: as the form, or as JSON if that is what was to be used."""
    if request.POST.get("use") != "raw":
        return formspecs.read(request.POST)
    try:
        return json.loads(request.POST.get("raw", ""))
    except (ValueError, RecursionError):
        return request.POST.get("raw", "")


def _typed(request: HtmxRequest) -> str:
    """The JSON that was sent, if somebody changed it and what counts is the form."""
    raw, shown = request.POST.get("raw", "").replace("\r\n", "\n"), request.POST.get("raw_name")
    return raw if shown and request.POST.get("use") != "raw" and name_of(raw) != shown else ""


def _keys(typed: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for line in typed.splitlines() if line.strip()))[:MOST_KEYS]


def _address(row: Dag) -> str:
    return f"{reverse('dag_listening')}?{urlencode({'dag': row.dag_id})}"
