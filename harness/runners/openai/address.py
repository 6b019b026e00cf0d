"""Which server does a URL mean, and may it be measured? Only one on this machine may.

A result file describes the machine that the harness runs on. Figures of a server elsewhere would
stand under the wrong hardware, so its address is refused.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from harness.errors import BadInputError

VARIABLE = "DRAFTMAP_API_KEY"
OTHER_VARIABLE = "OPENAI_API_KEY"
_USABLE = re.compile(r"[\x21-\x7e]+")


def api_key(environment: Mapping[str, str] | None = None) -> str | None:
    """The key, if one is set. Raises `BadInputError` when it cannot be sent in a header."""
    found = os.environ if environment is None else environment
    name = VARIABLE if found.get(VARIABLE, "").strip() else OTHER_VARIABLE
    key = found.get(name, "").strip()
    if not key:
        return None
    if not _USABLE.fullmatch(key):
        message = f"{name} holds something that is no key: blanks, line breaks or other characters"
        raise BadInputError(message)
    return key


def without_key(text: str, key: str | None) -> str:
    """A text fit to be shown: servers repeat keys in their messages."""
    return text.replace(key, "(the key)") if key else text


_PORTS = {"http": 80, "https": 443}
# The last part of the path where a server has its OpenAI routes; LM Studio's older ones are in v0.
_VERSIONS = ("/v1", "/v0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A server on this machine. `api` is the path of its OpenAI routes, `root` what is before."""

    host: str
    port: int
    secure: bool = False
    root: str = ""
    api: str = "/v1"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{self.root}"


def parse(text: str, *, option: str) -> Address:
    """The address in a URL. Raises `BadInputError` saying what is wrong with it."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        message = f"{option} is no URL ({error}); write http://127.0.0.1:8000"
        raise BadInputError(message) from error
    why = _unusable(parts)
    if why is not None:
        message = f"{option}: {why}"
        raise BadInputError(message)
    path = parts.path.rstrip("/")
    versioned = path.endswith(_VERSIONS)
    return Address(
        host=parts.hostname or "",
        port=port or _PORTS[parts.scheme],
        secure=parts.scheme == "https",
        root=path.rpartition("/")[0] if versioned else path,
        api=path if versioned else f"{path}/v1",
    )


def _unusable(parts: SplitResult) -> str | None:
    """Why a URL cannot be used. What stands before an @ is never repeated: it may be a password."""
    if parts.scheme not in _PORTS or not parts.hostname:
        return "only http and https URLs are understood; write http://127.0.0.1:8000"
    if parts.username is not None or parts.password is not None:
        return f"a URL must not hold a password; put the server's key into {VARIABLE}"
    if parts.query or parts.fragment:
        return "the URL must end with the path; leave out what follows ? or #"
    if not _is_loopback(parts.hostname):
        return (
            f"{parts.hostname} may be another machine, and the result file describes this one; "
            "run the harness on the machine of the server and give 127.0.0.1"
        )
    return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
