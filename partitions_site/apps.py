from django.apps import AppConfig
from django.db.models.signals import post_migrate


class PartitionsSiteConfig(AppConfig):
    name = "partitions_site"
    verbose_name = "Partita"

    def ready(self) -> None:
        from partitions_site.roles import ensure_roles

        # The last application to be migrated: the permissions of all others exist by then.
        post_migrate.connect(ensure_roles, sender=self)
