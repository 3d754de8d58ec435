"""How the words of descriptions look. No queries."""

import re

from django import template
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

register = template.Library()


@register.filter
def coded(text: str) -> SafeString:
    """`Names` between backticks as code, all else as it is."""
    return mark_safe(re.sub(r"`([^`]+)`", r"<code>\1</code>", conditional_escape(text)))  # noqa: S308
