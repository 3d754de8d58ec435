"""A picture of a page in few colours, none far from what it had: a third of its bytes, and looks the same."""

import base64
import struct
import zlib

from playwright.sync_api import BrowserContext, Page

COLOURS = 192
APART = 12 * 12
"""How far, squared, a colour must be from all that are kept before it, to be kept as well."""

REDUCE = """async ([picture, most, apart]) => {
  const image = new Image();
  image.src = "data:image/png;base64," + picture;
  await image.decode();
  const {width, height} = image;
  const canvas = Object.assign(document.createElement("canvas"), {width, height}).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const pixels = new Uint32Array(canvas.getImageData(0, 0, width, height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const found = [...counts].sort((one, other) => other[1] - one[1]).map(([pixel]) => pixel);
  const parts = (pixel) => [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  const palette = [], nearest = new Map();
  for (const pixel of found) {
    const [red, green, blue] = parts(pixel);
    let near = -1, least = Infinity;
    for (const [at, each] of palette.entries()) {
      const far = (each[0] - red) ** 2 + (each[1] - green) ** 2 + (each[2] - blue) ** 2;
      if (far < least) [near, least] = [at, far];
    }
    if (least >= apart && palette.length < most) near = palette.push([red, green, blue]) - 1;
    nearest.set(pixel, near);
  }
  const indexes = Uint8Array.from(pixels, (pixel) => nearest.get(pixel));
  let text = "";
  for (let at = 0; at < indexes.length; at += 32768) {
    text += String.fromCharCode(...indexes.subarray(at, at + 32768));
  }
  return [width, height, palette.flat(), btoa(text)];
}"""
"""In the browser, which can read its own pictures: width, height, palette and the index of each pixel."""


class Compactor:
    """Makes PNG files of few colours, in a tab of its own that no policy of a site binds."""

    def __init__(self, context: BrowserContext) -> None:
        self.tab: Page = context.new_page()

    def compact(self, picture: bytes) -> bytes:
        told = [base64.b64encode(picture).decode(), COLOURS, APART]
        width, height, palette, indexes = self.tab.evaluate(REDUCE, told)
        return _png(width, height, bytes(palette), base64.b64decode(indexes))


def _png(width: int, height: int, palette: bytes, indexes: bytes) -> bytes:
    lines = b"".join(b"\0" + indexes[at : at + width] for at in range(0, width * height, width))
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", palette), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks)


def _chunk(name: bytes, told: bytes) -> bytes:
    return struct.pack(">I", len(told)) + name + told + struct.pack(">I", zlib.crc32(name + told))
