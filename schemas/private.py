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
from schemas.letters import ODD_LETTER
from schemas.submission import Submission

# An API key has 14 letters and digits without a separator, which no word of an address such as
# `sk-telecom-ax-4-0-light-instruct` has.
_SECRETS = {
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{22,})",
    "a GitLab token": r"\bgl(?:pat|rt|dt|ft|cbt|ptt|soat|agent)-[\w-]{20,}",
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "an API key": (
        r"\b(?:sk-(?:ant-|proj-|or-)?|nvapi-|xai-|tgp_v1_|r8_|npm_|pypi-|dop_v1_|[sr]k_live_"
        r"|[sr]k_test_|GOCSPX-|ya29\.|dckr_pat_|pplx-|fw_|hv[sb]\.|dapi|tskey-|sbp_|rpa_|SG\.)"
        r"(?=[\w.-]{0,99}?[A-Za-z0-9]{14})[A-Za-z0-9._-]{20,}"
        r"|\bAIza[\w-]{35}|\bgsk_\w{30,}|\b\d{8,10}:AA[\w-]{33}"
        r"|AGE-SECRET-KEY-1\w{20,}|[?&]sig=[\w%+/=]{20,}"
        r"|\b(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/\w"
    ),
    "a key by its first letters": (
        r"\b(?:shp(?:at|ca|pa|ss)_|whsec_|NRAK-|lin_api_|ntn_|figd_|PMAK-|nfp_"
        r"|dp\.(?:pt|st|ct)\.|FlyV1 |pscale_tkn_|rubygems_|sq0[a-z]{3}-|aio_|dckr_oat_|glsa_"
        r"|secret_|1//0|wandb_v1_|sk_or_|ATATT3|ATCTT3|ops_ey|tvly-|jina_|pcsk_|vercel_|HRKU-)"
        r"[\w.~+/=-]{16,}"
        r"|\b(?:AC|SK|key-)[0-9a-f]{32}\b|\b[0-9a-f]{32}-us\d{1,2}\b|\w{14}\.atlasv1\.\w{20,}"
        r"|\bpat[A-Za-z0-9]{14}\.[0-9a-f]{32,}"
    ),
    "a key of a wallet": (
        r"\b[xyz]prv[A-Za-z0-9]{50,}|\b[5KL][1-9A-HJ-NP-Za-km-z]{50,51}\b|\b0x[0-9a-fA-F]{64}\b"
    ),
    "a key for one-time codes or a network": r"otpauth://|\bWIFI:[A-Z]:|PuTTY-User-Key-File|-key-data:",
    "an account in the cloud": r"\barn:aws[\w-]*:|\bAccountKey=|\bSharedAccess(?:Key|Signature)\b",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a Slack token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "a signed token": r"\beyJ[\w-]{10,999}+\.eyJ[\w-]{10,999}+\.",
    "a private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
    "a password in an address": r"://[^/\s:@]{1,99}+:[^/\s@]{1,99}+@",
    "an authorization header": r"(?i:\bbearer\s+[\w.~+/-]{16,}|\bauthorization:\s*\w+\s+\S{8,}"
    r"|\b(?:set-)?cookie:\s*\S|\bx-[a-z-]{0,20}(?:key|token):\s*\S|\bbasic\s+[A-Za-z0-9+/]{12,}={1,2})",
    "a login": (
        r"\bmachine\s+\S{1,99}\s+login\s+\S|(?<!\S)(?:-u|--user)[\s=]+[\"']?[^\s:\"']{1,60}:[^\s\"']"
        r"|\bsshpass\s+-p|(?i:\b(?:mysql|psql|mariadb)\b.{0,60}\s-p\S)"
        r"|[?&;](?:access_token|token|key|auth|pass|password|pwd)=\w"
    ),
    "a key of a server": r"(?<![\w-])(?:--(?:api-key|hf-token)|-hft)[\s=]+[\"']?[^\s\"'…<-]",
    "a password": (
        r"(?i:(?:\b|[_-])(?:(?:api|account|access|private|secret)[_-]?key|token|secret"
        r"|passw(?:or)?d|pwd)\b[\"']?\s*[=:]\s*[\"']?)"
        r"(?=\S{0,60}[0-9])[^\s\"']{8,}"
        r"|(?i:(?:passw(?:or)?[dt]|pass(?:phrase|code)|\bpsk|\bpwd|mot de passe|contrase.a)"
        r"[\"']?\s?[=:]\s?)[^\s…<]{4,}"
    ),
}
# Secrets recognised by the preceding words; on a page, adjacent texts of several people may look
# like such a secret.
BY_CONTEXT = frozenset({"an authorization header", "a key of a server", "a login", "a password"})
_PERSONAL = {
    "an e-mail address": (
        r"(?<![\w.+-])[\w.+-]{1,64}+@(?:[\w-]{1,63}+\.){1,9}[A-Za-z]{2}"
        r"|(?i:\w ?[(\[{] ?at ?[)\]}] ?\w)"
    ),
    "a home folder": (
        r"/(?:home|Users|users|media|mnt|nfs|srv|Volumes|gpfs|lustre|scratch)/[^\s/\\]|/[r]oot/\S"
        r"|\b(?:smb|nfs|afp|sftp|ssh|file)://\S|(?<!\S)~\w*/\w"
        r"|(?i:\b[a-z]:[\\/](?:users|documents and settings)[\\/])[^\s/\\]"
        r"|(?<![\w\\])\\\\[\w.-]{1,99}\\\w"
    ),
    "a host name": (
        r"(?i:\b(?:desktop|laptop|win)-[a-z0-9]{7,}\b|\w(?:'?s)?-(?:macbook|imac|mac-mini|mbp|nas)\b"
        r"|\w['\u2019]s (?:\w{1,12} )?(?:macbook|imac|mac|pc|laptop|iphone|ipad|desktop|nas"
        r"|computer|server|rig)\b"
        r"|\b(?:macbook|imac|iphone|ipad|pc) (?:von|de|di|van) \w|\bssh(?: -\S+)* \w[\w.-]*@\w"
        r"|(?<![\w.-])[a-z][a-z-]{0,30}\d{1,9}(?:\.[a-z][a-z0-9-]{1,62}){3,5}(?![\w.-])"
        r"|\w\.ts\.net\b"
        r"|(?<![\w-])[a-z0-9][\w-]{0,62}+\.(?:local|lan|internal|corp|home|intranet|localdomain)\b)"
    ),
    "a UUID": r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b",
    "a MAC address": r"\b[0-9a-fA-F]{2}(?:([:-])[0-9a-fA-F]{2})(?:\1[0-9a-fA-F]{2}){4}\b",
    "a user's number": r"\bS-1-5-21-\d|\bIMEI\b",
    "a serial number": (
        r"(?i:\b(?:serial(?: no\.?| number)?|s/n))[ :#=]{1,3}(?=[A-Z-]{0,20}\d)[A-Z0-9-]{6,}\b"
    ),
    "a telephone number or an account number": (
        r"(?<![\w+])\+\d{1,3}[ -]?(?:\(?\d{2,4}\)?[ -]?){2,4}\d{2,}(?!\w)"
        r"|\b[A-Z]{2}\d{2}(?: ?\d{4}){3,}|\b(?:\d{4}[ -]){3}\d{4}\b|\b\d{3}-\d{2}-\d{4}\b"
    ),
    "a place": r"(?<![\d.])(?<!, )-?\d{1,2}\.\d{5,}+°?[NS]?, ?-?\d{1,3}\.\d{5,}+(?!,)",
    "a list of words, as for a wallet": (
        r"(?<![\w'])(?:(?!(?:the|and|for|was|are|not|but|per|has|had|than|from)\b)[a-z]{3,8} ){11}"
        r"[a-z]{3,8}\b"
    ),
}
_SECRET_OF = {kind: re.compile(each) for kind, each in _SECRETS.items()}
_PERSONAL_OF = {kind: re.compile(each) for kind, each in _PERSONAL.items()}
# Keys and serial numbers; no word of a card's or a model's name is that long.
LONG_WORD = "[A-Za-z0-9]{21,}"
_NAMES = ("name", "description", "family", "quantisation", "derivation")
# Four decimal numbers, or hexadecimal digits with colons. After a word, as in `BIOS 1.2.3.4`, the
# first number of a version is small.
_ADDRESS = re.compile(
    r"(?<![\w.])(?:(?<!\w )\d|\d{2,3})(?:\.\d{1,3}){3}(?!\.?\w)"
    r"|(?<![\w.:])[0-9a-fA-F:]{2,45}+(?![.]?\w)"
)
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
        if path.rpartition(".")[2] in _NAMES and ODD_LETTER.search(text):
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
