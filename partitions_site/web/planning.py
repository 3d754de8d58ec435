"""The plan of a backfill: which keys would run and why the others would not, before anything is written."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from core.models import Asset, Backfill, Dag
from partitions_site import refusals
from partitions_site.grants import may_somewhere
from partitions_site.web import planned
from partitions_site.web.http import HtmxRequest, answer, check_may, deed, found, go, later, sight_of, whole
from scheduling import backfills as engine
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.selections import InvalidSelection
from scheduling.backfills import Ask, NothingToBackfill, Order, Plan, Reprocess, StalePlan, Wanted
from scheduling.backfills.standing import IS_THERE
from scheduling.belonging import Sight

START = "core.add_backfill"
MOST_UNASKED = 5000
"""Keys whose plan is worked out at once; for more than these one has to ask, for it takes longer."""

MOST_AT_ONCE = 10_000
MOST_TWINS = 100

WHICH = {
    "undone": ("what is missing or failed", Wanted.ALL, Reprocess.FAILED),
    "missing": ("what is missing", Wanted.ALL, Reprocess.NONE),
    "failed": ("only what failed", Wanted.FAILED, None),
    "stale": ("only what is stale", Wanted.STALE, None),
    "all": ("everything, also what has data", Wanted.ALL, Reprocess.COMPLETED),
}
"""Which of the selected keys run, by the word in the address."""


def which_of(backfill: Backfill) -> str:
    """Which keys a backfill that was started runs, in the words in which a plan asks for them."""
    wanted, again = backfill.asked.get("wanted", Wanted.ALL), backfill.reprocess
    of_one_state = {Wanted.MISSING: "missing", Wanted.FAILED: "failed", Wanted.STALE: "stale"}
    of_all = {Reprocess.NONE: "missing", Reprocess.FAILED: "undone", Reprocess.COMPLETED: "all"}
    if wanted == Wanted.FAILED_AND_MISSING:
        return WHICH["undone"][0]
    return WHICH[of_one_state.get(wanted) or of_all[Reprocess(again)]][0]


@dataclass(frozen=True, slots=True)
class Form:
    """What the form says, whatever of it makes sense."""

    dags: tuple[Dag, ...]
    asset: Asset | None
    selection: str
    which: str
    order: Order
    at_once: int
    per_run: str
    is_chained: bool
    with_upstream: bool
    with_downstream: bool
    title: str

    @property
    def dag(self) -> Dag | None:
        """The Dag that is meant; none while several would be possible."""
        return self.dags[0] if len(self.dags) == 1 else None

    @property
    def takes_several(self) -> bool:
        """Whether one run can take several keys."""
        return self.dag is not None and self.dag.max_keys_per_run != 1

    def ask(self) -> Ask:
        per_run = whole(self.per_run, 1) if self.per_run != "all" else None
        _, wanted, reprocess = WHICH[self.which]
        return Ask(
            self.dags,
            selection=self.selection or None,
            wanted=wanted,
            reprocess=reprocess,
            order=self.order,
            is_chained=self.is_chained,
            keys_per_run=per_run if self.takes_several else 1,
            max_active_runs=self.at_once,
            with_upstream=self.with_upstream,
            with_downstream=self.with_downstream,
            title=self.title,
        )


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HtmxRequest) -> HttpResponse:
    """What a backfill would do; POST starts exactly the plan that was shown."""
    given = request.POST if request.method == "POST" else request.GET
    form = _form(request, given)
    if request.method == "POST":
        return _start(request, form)
    return _show(request, form)


def _start(request: HtmxRequest, form: Form) -> HttpResponse:
    if not may_somewhere(request.user, START):
        raise PermissionDenied(refusals.why_not(request.user, START))
    if form.dag is None:
        return _show(request, form, status=422)
    shown = request.POST.get("plan", "")
    try:
        _check_all(request, form)
        made = engine.start(form.ask(), deed=deed(request), at=timezone.now(), shown=shown)
    except (StalePlan, NothingToBackfill) as error:
        twin = _started_before(request, form, shown)
        return go(request, reverse("backfill", args=[twin.pk])) if twin else _refuse(request, form, error)
    except PartitionError as error:
        return _refuse(request, form, error)
    messages.success(request, f"Started backfill {made.pk}.")
    return go(request, reverse("backfill", args=[made.pk]))


def _check_all(request: HtmxRequest, form: Form) -> None:
    """:raises PermissionDenied: if the plan takes a Dag along that they may not backfill."""
    if not request.user.has_perm(START):
        for part in engine.plan(form.ask(), now=timezone.now()).parts:
            check_may(request, START, part.dag)


def _started_before(request: HtmxRequest, form: Form, shown: str) -> Backfill | None:
    """The backfill that the first click made, if this is the second click on the same plan."""
    at = engine.shown_at(shown)
    if at is None:
        return None
    since = Backfill.objects.filter(created_by=request.user.get_username(), created_at__gte=at)
    asked = form.ask().kept()
    return next((row for row in since.order_by("pk")[:MOST_TWINS] if row.asked == asked), None)


def _refuse(request: HtmxRequest, form: Form, error: PartitionError) -> HttpResponse:
    return _show(request, form, refused=str(error), status=409)


def _show(request: HtmxRequest, form: Form, *, refused: str = "", status: int = 200) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    context = {
        "form": form,
        "refused": refused,
        "dag_ids": later(lambda: list(_plannable(sight_of(request)).values_list("dag_id", flat=True))),
        "whiches": [(word, words) for word, (words, *_) in WHICH.items()],
        "shown": later(_planned, request, given, form),
        "may_start": form.dag and request.user.has_perm(START, form.dag),
        "asked": later(_asked, given),
    }
    return answer(request, "backfills/new.html", "backfills/_plan.html", context, status=status)


def _planned(request: HtmxRequest, given: QueryDict, form: Form) -> dict[str, Any]:
    """The plan and one page of its keys, or what is wrong with what was asked."""
    if form.dag is None:
        return {}
    try:
        ask, now = form.ask(), timezone.now()
        if not given.get("whole") and engine.size(ask, most=MOST_UNASKED, now=now) > MOST_UNASKED:
            return {"large": MOST_UNASKED}
        plan = engine.plan(ask, now=now)
    except InvalidSelection as error:
        return {"wrong": str(error), "pointed": error.pointed() if error.text == form.selection else ""}
    except PartitionError as error:
        return {"wrong": str(error)}
    show, each = given.get("show", ""), given.get("each") == "yes"
    return {
        "plan": plan,
        "offers": [each for each in plan.offers if sight_of(request).sees(each.dag)],
        "token": plan.token(),
        "nothing": "" if plan.count else plan.why_nothing(),
        "again": _again(given, form, plan),
        "reasons": planned.reasons_of(plan),
        "needed": planned.time_needed(plan),
        "lines": planned.lines_of(plan, show, whole(given.get("row")), each=each),
    }


def _again(given: QueryDict, form: Form, plan: Plan) -> str:
    """The address of a plan that runs the keys all the same, where it is for their data that none runs."""
    done = any(reason == IS_THERE for reason, _ in planned.reasons_of(plan))
    if plan.count or form.which == "all" or not done:
        return ""
    everything = given.copy()
    everything["run"] = "all"
    return _asked(everything)


def _asked(given: QueryDict) -> str:
    """The address of this plan, without what only pages it."""
    kept = [
        (name, value)
        for name, value in given.items()
        if value and name not in ("csrfmiddlewaretoken", "plan", "reason", "row", "show", "each")
    ]
    return f"{reverse('backfill_new')}?{urlencode(kept)}"


def _form(request: HtmxRequest, given: QueryDict) -> Form:
    asset = found(request, Asset.objects, name=given["asset"]) if given.get("asset") else None
    return Form(
        dags=_dags(request, given.get("dag", ""), asset),
        asset=asset,
        selection=given.get("selection", "").strip(),
        which=given.get("run", "") if given.get("run") in WHICH else "undone",
        order=Order.NEWEST if given.get("order") == "newest" else Order.OLDEST,
        at_once=max(1, min(MOST_AT_ONCE, whole(given.get("at_once"), 10))),
        per_run=given.get("per_run", "1"),
        is_chained="chained" in given,
        with_upstream="upstream" in given,
        with_downstream="downstream" in given,
        title=given.get("title", "").strip()[:250],
    )


def _dags(request: HtmxRequest, dag_id: str, asset: Asset | None) -> tuple[Dag, ...]:
    """The Dag of that name, or those that write the asset."""
    if dag_id:
        return (found(request, Dag.objects, dag_id=dag_id),)
    return tuple(_plannable(sight_of(request)).filter(outlets__asset=asset).distinct()) if asset else ()


def _plannable(sight: Sight) -> Any:
    return Dag.objects.active().filter(sight.dags(), is_partitioned=True).order_by("dag_id")
