"""A day that an address names, and from when until when it lasts."""

from datetime import date, datetime, time, timedelta

from django.utils import timezone


def named(text: str) -> date | None:
    """The day; none if the text names none."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def lasting(day: date | None) -> tuple[datetime, datetime] | None:
    """From its beginning to that of the next one, in the zone of the site."""
    if day is None or not date.min < day < date.max:
        return None
    first, last = (datetime.combine(each, time()) for each in (day, day + timedelta(days=1)))
    return timezone.make_aware(first), timezone.make_aware(last)
