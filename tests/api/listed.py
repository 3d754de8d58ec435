"""Assets that are listed, and the least that is told of each."""

from datetime import UTC, datetime

from rest_framework import serializers

NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)
NAMES = ["Hourly_sales", "hourly%orders", "daily_sales", "tw|2026", "tw", "ünder"]


class NameOut(serializers.Serializer):
    name = serializers.CharField()
