from django.apps import AppConfig


class PartitionsSiteConfig(AppConfig):
    name = "partitions_site"
    verbose_name = "Partita"
