"""Where a line of words may break: not within a key. No queries."""

import re

from django import template
from django.template.defaultfilters import stringfilter
from django.utils.safestring import SafeString

from partitions_site.templatetags.markup import joined, markup

register = template.Library()

DATED = re.compile(r"[0-9]{4}-[0-9]{2}|%Y-%m")
"""What a key of a period has in it, and the format of one. A browser would break it after a hyphen."""

WORD = re.compile(r"\S+")

LONGEST = 30
"""Characters of a word that fits on a line of a phone."""

JOINTS = re.compile(r"(?<=\.\.\.)|(?<=__)|(?<=[^/]/)|(?=\+)|(?<=[a-z]\.)(?=[a-z_]{4})")
"""Where long names come apart: after the dots of a range, the parts of a run's id, of a path, of a module."""


@register.filter
@stringfilter
def whole(text: str) -> SafeString:
    """A sentence, each key in it on one line. Words that are longer than a line break where they must."""
    pieces, at = [], 0
    for found in WORD.finditer(text) if DATED.search(text) else ():
        if DATED.search(found[0]):
            pieces += [text[at : found.start()], _word(found[0])]
            at = found.end()
    return joined("", [*pieces, text[at:]])


@register.filter
@stringfilter
def parted(name: str) -> SafeString:
    """A long name that breaks between its parts."""
    return joined("<wbr>", map(_word, JOINTS.split(name)))


def _word(word: str) -> str:
    if len(word) > LONGEST or not DATED.search(word):
        return word
    return markup('<span class="whole">{}</span>', word)
