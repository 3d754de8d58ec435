"""How what somebody may do looks: a link, or for others the same words disabled, which say why."""

from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import QueryDict
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from partitions_site import grants, refusals

register = template.Library()


@register.simple_tag(takes_context=True)
def may(context: dict[str, Any], right: str, of: Any = None) -> bool:
    """Whether the person who looks has a right, for a thing if one is given."""
    allowed: bool = context["request"].user.has_perm(right, of)
    return allowed


@register.simple_tag(takes_context=True)
def takes(context: dict[str, Any], right: str, of: Any = None) -> str:
    """Which right something takes that this person may not do, and who has it."""
    return refusals.what_it_takes(context["request"].user, right, of)


@register.simple_tag(takes_context=True)
def deed(
    context: dict[str, Any], right: str, words: str, screen: str, *args: Any, **query: Any
) -> SafeString:
    """A link to a deed: the right it needs, its words, the name of its screen, what goes into the address.

    `style` is its class, `of` what it is done to; with `whole_page` it is asked on a page of its own, not
    in a dialog; `back` is where one is afterwards, if not where the deed itself leads. For somebody without
    the right the same words stand there disabled, and say why: to whoever points at them, reads them aloud,
    or tries (live.js).
    """
    of = query.pop("of", None)
    style, dialog = query.pop("style", "button"), "" if query.pop("whole_page", False) else " data-dialog"
    if not may(context, right, of):
        return _barred(style, words, refusals.why_not(context["request"].user, right, of))
    if not query.get("back"):
        query.pop("back", None)
    address = reverse(screen, args=args) + (f"?{urlencode(query)}" if query else "")
    return format_html('<a class="{}" href="{}"{}>{}</a>', style, address, dialog, words)


@register.simple_tag(takes_context=True)
def deed_to(
    context: dict[str, Any], right: str, words: str, screen: str, why_none: str, style: str = "button small"
) -> SafeString:
    """The same for the rows of a list that its address selects: the right for any of them is enough here.

    :param why_none: why it can be done to none of them; empty if it can to some.
    """
    user, asked = context["request"].user, context["request"].GET
    if not grants.may_somewhere(user, right):
        return _barred(style, words, refusals.why_not(user, right))
    if why_none:
        return _barred(style, words, why_none)
    back, query = asked.copy(), asked.copy()
    back.pop("sel", None)
    query.pop("after", None)
    query["back"] = f"{context['request'].path}?{back.urlencode()}".rstrip("?")
    address = f"{reverse(screen)}?{query.urlencode()}"
    return format_html('<a class="{}" href="{}" data-dialog>{}</a>', style, address, words)


@register.filter
def numbers(rows: list[Any]) -> str:
    """The numbers of the rows of a page, as an address selects them."""
    return ",".join(map(str, _numbers(rows)))


@register.filter
def selection(asked: QueryDict) -> str:
    """What an address selects, as it says it."""
    return ",".join(asked.getlist("sel"))


@register.filter
def are_all_in(rows: list[Any], selected: Any) -> bool:
    """Whether all rows of a page are selected."""
    return selected.pks.issuperset(_numbers(rows))


@register.filter
def trigger_words(dag_id: str) -> str:
    return f"Trigger {dag_id}…"


@register.filter
def keyless_trigger_words(dag_id: str) -> str:
    return f"Trigger {dag_id} without a key…"


def _barred(style: str, words: str, why: str) -> SafeString:
    return format_html(
        '<button type="button" class="{}" aria-disabled="true" title="{}.">{}</button>', style, why, words
    )


def _numbers(rows: list[Any]) -> list[int]:
    return [getattr(each, "row", each).pk for each in rows]
