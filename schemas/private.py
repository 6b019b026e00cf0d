"""Find access tokens, and traces of a person or machine, which a public file must not contain.

Secrets are refused. The harness only flags personal data, because a version number can look like an
IP address; the gate refuses them until a maintainer agrees.
"""

import ipaddress
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence

from schemas.codec import JOINERS, slug
from schemas.finding import ROOT, Violation
from schemas.submission import Submission
from schemas.vocabulary.documents import document

# Secrets recognised by the preceding words; on a page, adjacent texts of several people may look
# like such a secret.
BY_CONTEXT = frozenset({"an authorization header", "a key of a server", "a login", "a password"})
_SECRET_OF: dict[str, re.Pattern[str]]
_PERSONAL_OF: dict[str, re.Pattern[str]]
_SECRET_OF, _PERSONAL_OF = (
    {kind: re.compile("|".join(patterns)) for kind, patterns in document("private")[table].items()}
    for table in ("secrets", "personal")
)
# Keys and serial numbers; no word of a card's or a model's name is that long.
LONG_WORD = "[A-Za-z0-9]{21,}"
_NAMES = ("name", "description", "family", "quantisation", "derivation")
# Four decimal numbers, or hexadecimal digits with colons. After a word, as in `BIOS 1.2.3.4`, the
# first number of a version is small.
_ADDRESS = re.compile(
    r"(?<![\w.])(?:(?<!\w )\d|\d{2,3})(?:\.\d{1,3}){3}(?!\.?\w)"
    r"|(?<![\w.:])[0-9a-fA-F:]{2,45}+(?![.]?\w)"
)
# Names of models and devices have these letters and signs; no other letter looks like them.
_ODD_LETTER = re.compile(r"[^A-Za-z0-9 ._+()\[\]/:,@&#-]")
_DIGESTS = ("sha256", "commit")
_RANDOM_BITS = (
    3.2  # entropy of a character: a hexadecimal key has about 3.7, and words repeat letters
)
_VERSIONS = ("version", "package_version", "driver", "api")


def no_secrets(submission: Submission) -> Iterator[Violation]:
    """A result is public forever, so it must not contain a token, key or password.

    Adjacent strings, which a page shows side by side, must not form such a secret together, nor
    must a name in the form in which it is part of addresses and file names.
    """
    found = list(texts(submission))
    named = (each for each in found if each[0].rpartition(".")[2] in _NAMES)
    in_addresses = {path: kind for path, text in named if (kind := secret(slug(text, limit=None)))}
    message = "contains {kind}; remove it, and revoke it if it was sent anywhere"
    for path, kind in (in_addresses | _among(found)).items():
        yield path, message.format(kind=kind)


def _among(found: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The kind of secret at each path, in a single text or together with the next one."""
    if (joined := secret("\n".join(text for _, text in found))) is None:
        return {}
    single = {path for path, text in found if secret(text)}
    wrong = {}
    for (path, text), (after, following) in zip(found, [*found[1:], (ROOT, "")], strict=True):
        alone = path in single or after in single
        if kind := secret(text if alone else f"{text}\n{following}"):
            wrong[path] = kind
    return wrong or {ROOT: joined}


def secret(text: str) -> str | None:
    """The kind of secret in a text, such as `a GitHub token`; `None` if the text has no secret."""
    plain = _plain_text(text)
    return next((kind for kind, each in _SECRET_OF.items() if each.search(plain)), None)


def personal(text: str, path: str = ROOT) -> str | None:
    """The kind of personal data in a text, such as `an IP address`; `None` if there is none."""
    text = _plain_text(text)
    for kind, pattern in _PERSONAL_OF.items():
        if pattern.search(text):
            return kind
    field = path.rpartition(".")[2].partition("[")[0]
    if field in _NAMES and re.search(LONG_WORD, text):
        return "a string as long as a key"
    if not field.endswith(_DIGESTS) and any(map(_is_random, re.findall(LONG_WORD, text))):
        return "a string as long as a key"
    is_version = field in _VERSIONS
    addresses = () if is_version else map(_is_address, _ADDRESS.findall(text))
    return "an IP address" if any(addresses) else None


def odd_names(submission: Submission) -> Iterator[tuple[str, str]]:
    """The names of models, devices and quantisations with other letters than A to Z."""
    for path, text in texts(submission):
        if path.rpartition(".")[2] in _NAMES and _ODD_LETTER.search(text):
            yield path, text


def found(text: str, path: str = ROOT) -> str | None:
    """The kind of secret or personal data in a text; `None` if the text may be public."""
    return secret(text) or personal(text, path)


def _plain_text(text: str) -> str:
    """The text without invisible letters; full-width and similar letters become plain letters."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text.translate(JOINERS))


def _is_random(word: str) -> bool:
    """Whether a long word has digits, and no more repeated characters than a key."""
    counts = [word.count(each) / len(word) for each in set(word)]
    return any(map(str.isdigit, word)) and -sum(p * math.log2(p) for p in counts) > _RANDOM_BITS


def _is_address(text: str) -> bool:
    """Whether an IP address belongs to one machine, unlike 127.0.0.1, which every machine has."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)


def texts(value: object, path: str = ROOT) -> Iterator[tuple[str, str]]:
    """All strings in a typed document, with their JSON paths; trials are left out."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, tuple):
        for index, each in enumerate(value):
            yield from texts(each, f"{path}[{index}]")
    else:
        kind = type(value)
        names = getattr(kind, "__struct_fields__", getattr(kind, "__dataclass_fields__", ()))
        for name in names:
            if name != "trials":
                yield from texts(getattr(value, name), f"{path}.{name}")
