"""A flag about servers that were started with other arguments than speculation needs."""

import re
from collections.abc import Sequence

from estimates.flags.catalogue import Observation
from estimates.flags.evidence import FlagEvidence, only

# Arguments of speculation, and those that make no request faster: memory that is set aside for
# drafts, ports, logs and the like.
_MAY_DIFFER = re.compile(
    r".*(?:spec|draft|ngram|lookup|lookahead|log|metrics|seed).*"
    r"|sc(?:\..*)?|md|ngld|cd|c[tm]\w{1,2}d|ncmoed|devd|tb?d|hfr?d|otd|port|lv"
    r"|gpu-memory-utilization|mem-fraction-static"
)
_HIDDEN = "…"


def arguments_differ(evidence: FlagEvidence) -> Observation | None:
    """An arm's server was started with other arguments than its baseline's, speculation aside."""
    arms = {arm.id: arm for arm in evidence.submission.arms}
    found: dict[str, list[str]] = {}
    for arm in arms.values():
        baseline = arms.get(arm.baseline or "")
        if baseline is not None and arm.argv and baseline.argv:
            found[arm.id] = _differences(_settings(arm.argv), _settings(baseline.argv))
    found = {arm: differences for arm, differences in found.items() if differences}
    if not found:
        return None
    listed = [f"{text} with {arm}" for arm, texts in found.items() for text in texts]
    return Observation(differences=listed, arm=only(found))


def _settings(argv: Sequence[str]) -> dict[str, str]:
    """The arguments that the baseline should have too, by name; a switch has an empty value."""
    found: dict[str, str] = {}
    name = ""
    for word in argv:
        if re.match(r"--?[A-Za-z]", word):
            name, _, value = word.lstrip("-").replace("_", "-").partition("=")
            found[name] = value
        elif name and word != _HIDDEN:
            found[name] = f"{found[name]} {word}".strip()
    return {name: value for name, value in found.items() if not _MAY_DIFFER.fullmatch(name)}


def _differences(own: dict[str, str], theirs: dict[str, str]) -> list[str]:
    names = sorted(name for name in own | theirs if own.get(name) != theirs.get(name))
    values = [(name, own.get(name, "none"), theirs.get(name, "none")) for name in names]
    return [f"{name} {ours or 'on'} instead of {base or 'on'}" for name, ours, base in values]
