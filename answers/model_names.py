"""Read model names as people write them: `qwen3.6:27b`, `owner/repo-GGUF:Q4_K_M`."""

import re
from functools import cache

from answers.quantisations import find_quantisation
from schemas.vocabulary import MODEL_GENERATIONS, MODEL_SLUGS, model_name

# Words that do not affect which weights are meant: the usual tuning, the kind of file, the month of
# a release.
_SAME_MODEL = re.compile(
    r"instruct|it|chat|hf|gguf|mlx|qat|mtp|unsloth|ud|class|dense|moe|model|exl[23]|imatrix|i1|latest"
    r"|2[3-9](?:0[1-9]|1[0-2])|0[1-9][0-3]\d|1[0-2][0-3]\d"
)
_HUB = r"(?:(?:hf|huggingface)\.co/)"  # Ollama: `hf.co/owner/repo:quantisation`
# A family and its number: `qwen36`, `qwen-3.6`, `llama3.1`; `qwen3-8b` is generation 3.
_GENERATION = re.compile(
    rf"(?<![a-z])(?:meta-)?({'|'.join(sorted(MODEL_GENERATIONS, key=len, reverse=True))})"
    r"-?v?(\d)(?:(?:\.?(\d)|-(\d)(?=-))?(?=n?-|n?$))"
)


@cache
def model_key(label: str) -> str:
    """One slug for all spellings of a model: `Qwen3.6:27b-instruct` becomes `qwen3.6-27b`.

    The slug omits the owner, the quantisation, the kind of file, the month of release and words for
    the usual tuning. A name that no rule covers is only turned into a slug, which may be empty.
    """
    bare = re.sub(r"\([^)]*\)", " ", label)
    bare = (bare if bare.strip() else label).lower().strip()
    while found := find_quantisation(bare):
        bare = bare.replace(found[1], " ")
    slug = "-".join(re.findall(r"[a-z0-9./]+", re.sub(r"\.gguf\b", " ", bare)))
    slug = re.sub(rf"^{_HUB}?[\w.-]+/(?=[^/]+$)", "", MODEL_SLUGS.get(slug, slug))
    slug = _GENERATION.sub(_numbered, slug)
    slug = "-".join(re.findall(r"[a-z0-9.]+", model_name(slug).lower()))
    slug = "-".join(word for word in slug.split("-") if not _SAME_MODEL.fullmatch(word))
    slug = _GENERATION.sub(_numbered, slug)
    return MODEL_SLUGS.get(slug, slug)


@cache
def unknown_tag(name: str) -> str | None:
    """The tag after a name's colon; `None` if it is a size, a tuning or a quantisation."""
    tag = name.rpartition(":")[2] if ":" in name else ""
    if find_quantisation(tag):
        return None
    words = re.findall(r"[a-z0-9.]+", tag.lower())
    left = [x for x in words if not re.fullmatch(rf"[ae]?\d[\d.]*[bm]|{_SAME_MODEL.pattern}", x)]
    return tag if left else None


def _numbered(found: re.Match[str]) -> str:
    return MODEL_GENERATIONS[found[1]] + ".".join(filter(None, found.groups()[1:]))
