"""How far held runs are: the verdict on each in a picture and words, and the progress of its assets."""

from django import template
from django.utils.safestring import SafeString

from partitions_site.templatetags.markup import joined, markup
from partitions_site.templatetags.screens import PICTURED, instants, some
from scheduling.algebra.progress import Progress
from scheduling.algebra.verdicts import Kind, Verdict

register = template.Library()

MOST_MEMBERS = 62


@register.simple_tag
def verdict_state(verdict: Verdict) -> SafeString:
    """Why a run is held: the picture of the verdict's kind and its sentence, and when that ends by itself."""
    words = f"broken: {verdict.sentence}" if verdict.kind is Kind.BROKEN else verdict.sentence
    if verdict.then and verdict.until:
        words += f"; {verdict.then} at {verdict.until:%Y-%m-%d %H:%M:%S} UTC if nothing more comes"
    return markup(
        '<span class="state wraps s-{}"><span>{}</span></span>', PICTURED[verdict.kind], instants(words)
    )


@register.simple_tag
def progress(verdict: Verdict, address: str) -> SafeString:
    """How far each asset of a held run is, as bar and number; these lead to the `address` of the run.

    A tag, as a list draws it in every row, where an included template takes longer.
    """
    several = len(verdict.progress) > 1
    return joined(
        "",
        (
            markup(
                '<div class="progress">{} <a href="{}">{} of {}</a>{}{}</div>',
                members(each),
                address,
                each.received_count,
                each.required_count,
                markup(" <small>{}</small>", each.leaf.words()) if several else "",
                _unexpected(each, address),
            )
            for each in verdict.progress
        ),
    )


@register.simple_tag
def members(progress: Progress) -> SafeString:
    """The required keys of a held run as one small bar, in order: full where received, low where missing.

    More than `MOST_MEMBERS` share places; a place is full when all that share it are there.
    """
    received = frozenset(progress.received)
    keys = progress.required
    there = [bool(received)] if keys is None else [key in received for key in keys]
    wide = -(-len(there) // MOST_MEMBERS) or 1
    places = there if wide == 1 else [all(there[at : at + wide]) for at in range(0, len(there), wide)]
    words = f"{progress.received_count} of {progress.required_count} {progress.noun} received"
    mark = markup('<path class="need" d="M{} 0h2v14h-2z"/>', 10 * -(-progress.needed // wide) - 1)
    return markup(
        '<svg class="members" role="img" aria-label="{}" viewBox="0 0 {} 14" preserveAspectRatio="none">'
        '<path class="in" d="{}"/><path class="out" d="{}"/>{}</svg>',
        words,
        10 * len(places),
        "".join(f"M{10 * at} 2h8v12h-8z" for at, full in enumerate(places) if full),
        "".join(f"M{10 * at} 10h8v4h-8z" for at, full in enumerate(places) if not full),
        mark if progress.needed < progress.required_count else "",
    )


def _unexpected(progress: Progress, address: str) -> SafeString | str:
    """Keys that came and do not count, if there are any."""
    if not progress.unexpected:
        return ""
    words = some(len(progress.unexpected), "unexpected key")
    return markup(' <a class="tag bad" href="{}">{}</a>', address, words)
