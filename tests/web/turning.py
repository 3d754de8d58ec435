"""Lists are read page by page, as people turn them."""

from tests.web.reading import read

MOST_BYTES = 200_000


def turned(visitor, address, onward, keys, tag="a"):
    """Those of `keys` that a list has, as one finds them by turning its pages, none of them too heavy."""
    path, found = address.partition("?")[0], []
    while address:
        answer = visitor.get(address)
        assert len(answer.content) < MOST_BYTES
        page = read(answer)
        found += [each.text for each in page.all(tag, class_="key") if each.text in keys]
        following = page.links.get(onward)
        address = following and (following if following.startswith("/") else path + following)
    return found
