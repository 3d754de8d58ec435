"""How a Dag listens: what counts and who says so, a form to change it, and what a change would do.

One address: GET shows it, POST of the form looks at what it says or saves it. Nothing is kept in between, so
that what was typed is still there when somebody else was faster.
"""

import json
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods

from core.models import Dag, HeldRun
from partitions_site import grants, refusals
from partitions_site.web import formspecs, specforms
from partitions_site.web.http import HtmxRequest, answer, deed, found, go, later, sight_of, whole
from partitions_site.web.specforms import Node
from scheduling import configuration
from scheduling.algebra import condition_specs
from scheduling.algebra.condition_text import InvalidCondition
from scheduling.algebra.differences import differences
from scheduling.algebra.errors import InvalidDefinition, PartitionError
from scheduling.belonging import Sight
from scheduling.configuration import StaleSchedule, history
from scheduling.configuration.previewing import MOST_NAMED
from scheduling.configuration.problems import Problem
from scheduling.configuration.telling import Told
from scheduling.configuration.trying import MOST_KEYS, Tried

CHANGE = "core.change_scheduleoverride"
LONG = 60_000
"""Bytes of a schedule that is shown unasked, as a form and as JSON."""

PARTS = ("dags/_editor.html", "dags/_proposal.html")


@dataclass(slots=True)
class Proposal:
    """What somebody would have the Dag listen by, and what came of looking at it."""

    spec: Any
    form: Node
    keys: tuple[str, ...] = ()
    problem: str = ""
    refused_at: str = ""
    pointed: str = ""
    tried: list[Tried] | None = None
    trouble: str = ""
    preview: configuration.Preview | None = None
    typed: str = ""
    """JSON that somebody wrote and has not filled the form with."""

    is_withheld: bool = False
    """Whether it names an asset that whoever looks is not shown: no key is named that may be of it."""

    left: int | None = None
    """How many runs are held that nothing would fire, where the Dag would listen to nothing."""

    def new_problems(self, told: Told) -> list[Problem]:
        """What would be wrong with the Dag that is not now."""
        there = {each["sentence"] for each in told.problems}
        return [each for each in self.preview.problems if each.sentence not in there] if self.preview else []

    def mended(self, told: Told) -> list[str]:
        """What is wrong with the Dag and would not be."""
        if self.preview is None:
            return []
        after = {each.sentence for each in self.preview.problems}
        return [each["sentence"] for each in told.problems if each["sentence"] not in after]

    @property
    def wrong_field(self) -> str:
        """The id of what in the form is wrong; empty where that is all of it."""
        node = specforms.place(self.form, self.refused_at)
        return node.id if self.trouble and node is not self.form else ""

    @property
    def raw(self) -> str:
        """What the form says, as JSON."""
        return json.dumps(self.preview.spec if self.preview else self.spec, ensure_ascii=False, indent=2)

    @property
    def raw_name(self) -> str:
        """What tells JSON that was left as it was shown from JSON that was changed."""
        return _name(self.raw)


@require_http_methods(["GET", "HEAD", "POST"])
def listening(request: HtmxRequest) -> HttpResponse:
    """How a Dag listens. Whoever has signed in may look; to change it needs the role admin."""
    if request.method == "POST" and not grants.may_somewhere(request.user, CHANGE):
        raise PermissionDenied(refusals.why_not(request.user, CHANGE))
    row = found(request, Dag.objects, dag_id=request.GET.get("dag", ""))
    if request.method == "POST" and not request.user.has_perm(CHANGE, row):
        raise PermissionDenied(refusals.why_not(request.user, CHANGE, row))
    if request.method != "POST":
        return _show(request, row, _proposed(row, row.schedule, _keys(request.GET.get("keys", ""))))
    act = request.POST.get("act", "look")
    if act in ("back", "revert"):
        return _restore(request, row, act)
    asked = _asked(request)
    with suppress(PartitionError):  # one that cannot be read: the page says where it is wrong
        grants.check_schedule(request.user, row, asked)
    proposal = _proposed(row, asked, _keys(request.POST.get("keys", "")))
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
        return _refused(request, row, _proposed(row, row.schedule, ()), gone)
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
        left = HeldRun.objects.held().filter(dag=row).count()
        return Proposal(row.schedule, specforms.draw(row.schedule, types=_kept(row)), left=left)
    return _proposed(row, spec, (), hidden=hidden)


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
    again = _proposed(row, proposal.spec, proposal.keys)
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


def _proposed(
    row: Dag, spec: Any, keys: tuple[str, ...], *, hidden: Collection[str] = frozenset()
) -> Proposal:
    """Look at `spec`: try it on keys, and say what saving it would do. Reads only.

    :param hidden: assets of which no key is shown: what becomes of held runs is counted only.
    """
    proposal = Proposal(spec, specforms.draw(spec, types=_kept(row)), keys, is_withheld=bool(hidden))
    try:
        tried = configuration.try_schedule(row, None if spec == row.schedule else spec, keys)
        proposal.tried = [each for each in tried if each.asset not in hidden]
        if spec != row.schedule:
            most = 0 if hidden else MOST_NAMED
            proposal.preview = configuration.preview(row, spec, now=timezone.now(), most=most)
    except InvalidDefinition as refusal:
        where = f"{refusal.path}: " if refusal.path else ""
        proposal.trouble = f"{where}{refusal}"
        proposal.refused_at = refusal.path
        proposal.pointed = refusal.pointed() if isinstance(refusal, InvalidCondition) else ""
    except PartitionError as refusal:
        proposal.trouble = str(refusal)
    return proposal


def _kept(row: Dag) -> tuple[str, ...]:
    kind = row.schedule.get("type") if isinstance(row.schedule, dict) else ""
    return (str(kind),) if kind else ()


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
    return raw if shown and request.POST.get("use") != "raw" and _name(raw) != shown else ""


def _name(raw: str) -> str:
    return blake2b(raw.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _keys(typed: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for line in typed.splitlines() if line.strip()))[:MOST_KEYS]


def _address(row: Dag) -> str:
    return f"{reverse('dag_listening')}?{urlencode({'dag': row.dag_id})}"
