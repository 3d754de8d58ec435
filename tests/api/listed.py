"""The least that a list may be made of."""

from rest_framework import serializers


class NameOut(serializers.Serializer):
    name = serializers.CharField()
