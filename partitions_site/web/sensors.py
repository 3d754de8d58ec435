"""Sensors: what each looks at, what it found last, and what a person may do with it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.models import Sensor
from partitions_site.web import confirm
from partitions_site.web.confirm import Question
from partitions_site.web.http import HtmxRequest, allowed, answer, deed, go, later
from scheduling import configuration
from scheduling import sensors as engine

SHOWN_LOOKS = 100


@require_safe
def sensors(request: HtmxRequest) -> HttpResponse:
    """All sensors, those in trouble first. The rows poll this same address."""
    context = {"sensors": later(_sorted)}
    return answer(request, "sensors/list.html", "sensors/_rows.html", context)


@require_safe
def sensor(request: HtmxRequest, name: str) -> HttpResponse:
    """One sensor and its last looks that found something or failed."""
    row = get_object_or_404(Sensor.objects.select_related("source"), name=name)
    context = {"sensor": row, "looks": later(lambda: list(row.looks.order_by("-id")[:SHOWN_LOOKS]))}
    return answer(request, "sensors/sensor.html", "sensors/_now.html", context)


@require_POST
@allowed("core.change_sensor")
def pause(request: HtmxRequest) -> HttpResponse:
    """Pause it, or let it look again."""
    row = get_object_or_404(Sensor, name=request.POST.get("sensor", ""))
    paused = request.POST.get("paused") == "yes"
    configuration.set_sensor_paused(row, paused, deed=deed(request), at=timezone.now())
    messages.success(request, f"{row.name} {'looks no more' if paused else 'looks again, now'}.")
    return go(request, reverse("sensor", args=[row.name]))


@require_http_methods(["GET", "HEAD", "POST"])
@allowed("core.change_sensor")
def look(request: HtmxRequest) -> HttpResponse:
    """Let it look at once."""
    row = get_object_or_404(Sensor, name=request.GET.get("sensor", ""))
    question = Question(
        title="Look now?",
        sentences=(f"{row.name} looks at once, and then goes on with its own cadence.",),
        button="Look now",
        back=reverse("sensor", args=[row.name]),
        asks_reason=False,
    )

    def do() -> tuple[str, str]:
        engine.look_now(row, deed=deed(request), at=timezone.now())
        return reverse("sensor", args=[row.name]), "It looks within a second or two."

    return confirm.act(request, question, do)


def _sorted() -> list[Sensor]:
    rows = Sensor.objects.active().select_related("source")
    return sorted(rows, key=lambda row: (not (row.failures or row.problem), row.name))
