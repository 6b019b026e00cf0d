"""Choose, from the file names in a repository, those that `owner/repo:quant` refers to."""

import re
from collections.abc import Sequence
from pathlib import PurePath

from harness.errors import BadInputError

# Ollama writes the hub's name before the owner.
_HOST = re.compile(r"(?:hf|huggingface)\.co/", re.IGNORECASE)
_REFERENCE = re.compile(r"([\w-][\w.-]*/[\w.-]+?)(?<!\.gguf)(?::([\w.-]+))?", re.IGNORECASE)
_DEFAULT_QUANTISATION = "Q4_K_M"
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
_QUANTISATION = re.compile(
    r"(?:^|[-._/])((?:UD-)?(?:I?Q\d\w*|F16|F32|BF16|MXFP4\w*|NVFP4|TQ\d_\d))(?=[-./]|$)",
    re.IGNORECASE,
)
# Kinds of files that many repositories contain and that are not language models.
OTHER_KINDS = ("mmproj", "imatrix")


def reference(text: str) -> tuple[str, str] | None:
    """Split `owner/repo:quant`; the default quantisation is Q4_K_M, as in llama.cpp."""
    match = _REFERENCE.fullmatch(without_host(text))
    return None if match is None else (match[1], match[2] or _DEFAULT_QUANTISATION)


def without_host(text: str) -> str:
    """Return `owner/repo:quant` from `hf.co/owner/repo:quant`, and any other text unchanged."""
    host = _HOST.match(text)
    rest = text[host.end() :] if host else text
    return rest if "/" in rest else text


def choose(names: Sequence[str], repository: str, quantisation: str) -> tuple[str, ...]:
    """Return the name of a quantisation's file, or the names of all its parts in order."""
    weights = [name for name in names if name.lower().endswith(".gguf")]
    weights = [n for n in weights if not any(kind in n.lower() for kind in OTHER_KINDS)]
    # A file may also be requested by its name: a repository may contain a model and its head.
    asked = quantisation.lower()
    fitting = sorted(n for n in weights if asked in {*_quantisations(n), PurePath(n).stem.lower()})
    whole = [name for name in fitting if not _PART.search(name)]
    if whole:
        return (min(whole, key=len),)
    if fitting:
        stem = _PART.sub("", fitting[0])
        return tuple(name for name in fitting if _PART.sub("", name) == stem)
    offered = sorted({q for name in weights for q in _quantisations(name)})
    offer = (
        f"available: {', '.join(offered).upper()}"
        if offered
        else "the repository has no GGUF files"
    )
    raise BadInputError(f"{repository} has no file with the quantisation {quantisation!r}; {offer}")


def _quantisations(name: str) -> set[str]:
    found = {match.lower() for match in _QUANTISATION.findall(_PART.sub("", name))}
    found |= {match.lower() for match in _QUANTISATION.findall(name.removesuffix(".gguf"))}
    return found


def complete(names: Sequence[str], quantisation: str) -> tuple[str, ...]:
    """Return the names of a quantisation's files; empty if not all of them exist."""
    try:
        chosen = choose(names, "the cache", quantisation)
    except BadInputError:
        return ()
    part = _PART.search(chosen[0])
    return chosen if part is None or int(part[2]) == len(chosen) else ()
