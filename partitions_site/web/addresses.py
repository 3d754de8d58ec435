"""What an address and a form may say: texts that can be stored, and no more than a page has use for."""

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest

MOST = 1000
"""Characters of all that an address asks for, but for what is typed at length: many links repeat them."""

TYPED = ("sel", "selection", "keys", "extra", "conf", "note", "reason", "raw", "title", "back", "next")
"""What may be longer, on any page."""

KEYS_TYPED = ("record", "dag_trigger", "dag_meaning")
"""Pages on which that is true of `key`: several may be typed, and they tell what is wrong with a long one."""


def check_can_be_stored(request: HttpRequest) -> None:
    """No name, key or reason has the character U+0000, or half of one: no database could even look for it.

    :raises Http404: if it is in the path.
    :raises BadRequest: if it is in the query or in the form.
    """
    if _flaw(request.path):
        raise Http404
    for given in (request.GET, request.POST):
        for name, values in given.lists():
            if flaw := next(filter(None, map(_flaw, (name, *values))), ""):
                raise BadRequest(f"{name!r} holds {flaw}, which no name or key has")


def check_length(request: HttpRequest) -> None:
    """See that the links of a page, which lead to the same place with one thing changed, stay short.

    :raises BadRequest: if the address asks for more than any page can mean.
    """
    match = request.resolver_match
    typed = (*TYPED, "key") if match and match.url_name in KEYS_TYPED else TYPED
    asked = sum(
        len(name) + sum(map(len, values)) for name, values in request.GET.lists() if name not in typed
    )
    if asked > MOST:
        raise BadRequest(f"it asks for {asked:,} characters, and no page knows more than {MOST:,}")


def _flaw(text: str) -> str:
    """What keeps a text from being stored; empty if nothing."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a character"
    return "the character U+0000" if "\x00" in text else ""
