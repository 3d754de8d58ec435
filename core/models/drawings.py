"""Pre-aggregated looks of partitions: one byte for each key, in blocks, so that no page reads all rows."""

from uuid import uuid4

from django.db import models

from core.models.assets import Asset

BLOCK = 8192
"""Keys of one block."""


class Drawing(models.Model):
    """What the screens show of an asset, as far as it is drawn; `scheduling.drawings` keeps it.

    `name` names the keys that its blocks number, and who writes the asset: a drawing under another name than
    the asset has now is of no use. Two drawings never share a `uid`, not even when the transaction that wrote
    one was undone.
    """

    asset = models.OneToOneField(Asset, on_delete=models.CASCADE, related_name="drawing")
    uid = models.UUIDField(default=uuid4, editable=False)
    name = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"drawing of {self.asset_id}"


class DrawnBlock(models.Model):
    """The looks of `BLOCK` keys, one byte each; those at the end that were never drawn are left out.

    `keys` are the keys themselves, one a line, where no definition numbers them (`is_loose`): they are
    numbered as they were first drawn. `edition` is another whenever the block is.
    """

    drawing = models.ForeignKey(Drawing, on_delete=models.CASCADE, related_name="blocks")
    is_loose = models.BooleanField(default=False)
    number = models.PositiveIntegerField()
    looks = models.BinaryField()
    keys = models.TextField(default="")
    edition = models.UUIDField(default=uuid4)

    class Meta:
        constraints = [
            models.UniqueConstraint("drawing", "is_loose", "number", name="a_block_is_drawn_once"),
        ]

    def __str__(self) -> str:
        return f"block {self.number} of {self.drawing_id}"
