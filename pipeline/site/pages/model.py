"""Define the page, its charts and the other files of the site, and their addresses."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from pipeline.cache import Cache
from pipeline.site.charts import Chart


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A Markdown file below the docs folder, e.g. `devices/rtx-4060.md`, and its charts."""

    path: str
    text: str
    figures: tuple[Chart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """A file below the docs folder that is not a page."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Site-wide values that every page needs.

    `bundle` is the path of the JavaScript library for interactive charts. `repository` and
    `address` are the web addresses of the repository and of the site; if one is unknown (`None`),
    nothing links to it. `outside` links to the raw files that only the repository has, keyed by the
    addresses that they would have on the site. `as_of` is the day of the newest figure. `cache`
    keeps values that are slow to compute.
    """

    bundle: str
    repository: str | None = None
    address: str | None = None
    as_of: str | None = None
    outside: Mapping[str, str] = field(default_factory=dict)
    cache: Cache = field(default_factory=Cache)

    def link_from(self, address: str) -> Callable[[str], str]:
        """Return a function that makes links from the page at `address` to other addresses."""
        return lambda to: self.outside.get(to) or relative(address, to)


def named_by_content(path: str, data: bytes) -> Asset:
    """A file whose name changes with its content: the content's digest replaces `{}` in `path`."""
    return Asset(path=path.format(hashlib.sha256(data).hexdigest()[:12]), data=data)


def address_of(path: str) -> str:
    """The address of a Markdown file once built: `faq.md` is served as `faq/`."""
    stem = path.removesuffix(".md")
    if stem == "index":
        return ""
    return stem.removesuffix("/index") + "/"


def relative(from_address: str, to_address: str) -> str:
    """A relative link from one address of the site to another; works under any base path."""
    return "../" * from_address.count("/") + to_address or "./"


def path_of(address: str) -> str:
    """The Markdown file of the page at an address."""
    return f"{address.removesuffix('/')}.md"


def file_path(file: str) -> str:
    """The address of the raw file of a submission."""
    return f"data/submissions/{_file_stem(file.removesuffix('.json'))}.json"


def _file_stem(name: str) -> str:
    """Turn a name into one that is safe in file names and addresses.

    Names from the collection are safe already. A file in a local preview may have any name, so a
    digest keeps apart names that have the same letters, or no Latin letters at all.
    """
    if re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name) and name not in {"index", "readme"}:
        return name
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "unnamed"
    return f"{words}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _at(pattern: str, name: str) -> str:
    """Fill a name into an address pattern such as `devices/{}/`."""
    return pattern.format(_file_stem(name))


device_address = partial(_at, "devices/{}/")
target_address = partial(_at, "models/{}/")
answer_address = partial(_at, "answers/{}/")
submission_address = partial(_at, "submissions/{}/")
ADDRESSES: Mapping[str, Callable[[str], str]] = {
    "device": device_address,
    "target": target_address,
    "submission": submission_address,
    "published": "data/#{}".format,  # the section about a source on *Data and sources*
}
