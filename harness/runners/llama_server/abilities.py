"""Read the abilities of a llama-server from its --help."""

import re
from dataclasses import dataclass

_FLAG = re.compile(r"(?<![\w-])(--?[A-Za-z][A-Za-z0-9-]*)")
# The start of a flag's help; ik_llama.cpp indents a flag that has no short name.
_ENTRY = re.compile(r"^(?=[ \t]{0,10}--?[A-Za-z])", re.MULTILINE)
# The gap between a flag and its explanation on the same line.
_GAP = re.compile(r"(?<!\s)\s{2,}+(?=[^\s-])")
_REMOVED = "argument has been removed"
_SPEC_TYPE = "--spec-type"
# Types with separate parameters: `--spec-type TYPE:KEY=VALUE`, repeated for a chain.
_STAGES = ":k=v"
_TYPES = re.compile(r"none(?:[,|] ?[a-z0-9-]+)+")
_TRACE = re.compile(r"-\s*4: trace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """The flags of a binary and the values of its `--spec-type` (empty without the flag).

    `takes_value` has the flags that take a value according to the help; each entry of `entries` has
    all names of one flag and its opposite. With `hides_layers`, the log shows the placement of
    layers only at verbosity 4 or higher. With `stages`, the value of `--spec-type` includes the
    type's parameters, as in ik_llama.cpp. `chains` means that several types draft together.
    """

    flags: frozenset[str]
    takes_value: frozenset[str]
    spec_types: tuple[str, ...]
    entries: tuple[frozenset[str], ...] = ()
    hides_layers: bool = False
    stages: bool = False
    chains: bool = False

    def first(self, *names: str) -> str | None:
        """Return the first of a flag's names that the binary supports; `None` if it has none."""
        return next((name for name in names if name in self.flags), None)

    def names_of(self, flag: str) -> frozenset[str]:
        """Return all names of a flag, and of its opposite."""
        return frozenset({flag}).union(*(names for names in self.entries if flag in names))


def read_help(text: str) -> Abilities:
    """Read the abilities in a help text; they are empty for any other text."""
    listed: list[frozenset[str]] = []
    takes_value: set[str] = set()
    spec_types: tuple[str, ...] = ()
    stages = chains = False
    for entry in _ENTRY.split(text)[1:]:
        if _REMOVED in " ".join(entry.split()):
            continue
        head = _GAP.split(entry.splitlines()[0].replace(",  ", ", "), maxsplit=1)[0]
        names = _FLAG.findall(head)
        listed.append(frozenset(names))
        value = head[head.rfind(names[-1]) + len(names[-1]) :].strip(" ,") if names else ""
        if value:
            takes_value.update(names)
        if _SPEC_TYPE in names:
            spec_types = _listed(value) or _listed(entry)
            stages = _STAGES in value
            chains = "," in value
    return Abilities(
        flags=frozenset().union(*listed),
        takes_value=frozenset(takes_value),
        spec_types=spec_types,
        entries=tuple(listed),
        hides_layers=_TRACE.search(text) is not None,
        stages=stages,
        chains=chains,
    )


def _listed(text: str) -> tuple[str, ...]:
    """Return the values of `--spec-type` in the help, separated by commas or bars, `none` first."""
    match = _TYPES.search(text)
    return tuple(re.split(r"[,|] ?", match[0])) if match else ()
