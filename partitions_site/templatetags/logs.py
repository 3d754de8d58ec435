"""The lines of a log. No queries."""

from django import template
from django.template.defaultfilters import truncatechars
from django.utils import timezone
from django.utils.safestring import SafeString

from core.models import LogLine
from partitions_site.templatetags.lines import whole
from partitions_site.templatetags.markup import markup

register = template.Library()

BRIEF = 400
"""Characters of a line that are shown where there is little room."""


@register.simple_tag
def log_line(line: LogLine, brief: bool) -> SafeString:
    """When it was written, and what it says."""
    at = timezone.localtime(line.at)
    text = whole(truncatechars(line.text, BRIEF) if brief else line.text)
    return markup(
        '<li><time datetime="{}">{}</time><span>{}</span></li>', at.isoformat(), f"{at:%H:%M:%S}", text
    )
