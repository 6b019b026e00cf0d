"""Make a campaign's arms: the baseline, one arm per method and draft, alternative baselines."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from harness.campaign.model import ALL_LAYERS, ArmPlan
from harness.errors import BadInputError
from harness.models.model_file import ModelFile
from schemas.codec import slug
from schemas.method import DRAFT_MODEL, NO_SPECULATION, Method
from schemas.vocabulary import METHODS

BASELINE = "baseline"
# The maximum length of an id in the file format.
_ID_LENGTH = 64
# Architectures that identify a draft head's file: `eagle3`, `dflash`, `dflash-draft`. Longer names
# come first: `dflash2` before `dflash`.
_HEADS = sorted(
    {word for entry in METHODS.values() for word in entry.architectures}, key=len, reverse=True
)
# The letters for a method's parameters in an arm's id. Most parameters appear there only if they
# differ from the default.
_ALWAYS = ("length", "acceptance", "n_max")
_LETTERS = {
    "length": "l",
    "acceptance": "a",
    "n_max": "n",
    "ngram_size": "g",
    "n_min": "m",
    "min_hits": "h",
    "nodes": "t",
    "p_min": "p",
}


def takes_draft(method: Method) -> bool:
    """Whether the method, or a method in its chain, can use a draft."""
    return any(METHODS[kind].draft != "none" for kind in method.types)


def needs_draft(method: Method) -> bool:
    return any(METHODS[kind].draft == "required" for kind in method.types)


def drafts_of(
    method: Method, drafts: Sequence[ModelFile], *, among: Iterable[Method]
) -> list[ModelFile]:
    """Return the given drafts that a method is run with.

    Raises `BadInputError` for a draft of the wrong kind that no other method could use.
    """
    if not takes_draft(method):
        return []
    types = {method.type for method in among if takes_draft(method)}
    words = METHODS[method.type].architectures
    if len(types) == 1:
        is_open = method.type != DRAFT_MODEL and not words
        for kind, name in () if is_open else ((_head(each), each.model.name) for each in drafts):
            if kind not in (None, *words):
                raise BadInputError(
                    f"{name} cannot draft for {method.type}; it is a draft for --method {kind}"
                )
        return list(drafts)
    if not words:
        return [draft for draft in drafts if _head(draft) is None]
    # A draft whose architecture is named like another requested method belongs to that method.
    names = [word for word in words if word == method.type or word not in types]
    return [draft for draft in drafts if _head(draft) in names]


def _head(draft: ModelFile) -> str | None:
    """Return a draft head's kind, judged by its architecture and name; `None` for a draft model."""
    name = draft.model.name.lower()
    architecture = (draft.model.architecture or name).lower()
    kind = next((word for word in _HEADS if word in architecture), None)
    return kind and next((word for word in _HEADS if word in name), kind)


def label(method: Method) -> str:
    """Return a method's arm id, without a suffix for the draft: `prompt-lookup-n8`."""
    if method.chain:
        return "-then-".join(method.chain)
    entry = METHODS[method.type]
    sizes = {key: value for key, value in method.sizes.items() if value is not None}
    words = [entry.control or method.type]
    words += [slug(method.controller)] if method.controller else []
    words += [
        f"{letter}{sizes[key]:g}"
        for key, letter in _LETTERS.items()
        if key in sizes and (key in _ALWAYS or sizes[key] != entry.defaults.get(key))
        if not (key == "n_max" and method.controller)
    ]
    lengths = (method.ngram_min, method.ngram_max)
    if lengths != (entry.defaults.get("ngram_min"), entry.defaults.get("ngram_max")):
        words.append(f"g{lengths[0]}-{lengths[1]}")
    return "-".join(words)


def arms(
    methods: Sequence[Method],
    drafts: tuple[ModelFile, ...],
    *,
    baseline_gpu_layers: int | None = None,
    concurrency: Iterable[int] = (),
) -> tuple[ArmPlan, ...]:
    """Return the arms of the methods for each level of concurrency. Raises `BadInputError`."""
    once = [ArmPlan(id=BASELINE, role="baseline", method=NO_SPECULATION)]
    for method in methods:
        once += _arms(method, drafts, methods)
    if baseline_gpu_layers is not None:  # last, since all other arms share loaded models
        once.append(_alternative(baseline_gpu_layers))
    levels = tuple(sorted(set(concurrency))) or (1,)
    return tuple(_at_level(arm, level) for level in levels for arm in once)


def with_own_ids(drafts: tuple[ModelFile, ...]) -> tuple[ModelFile, ...]:
    """Return the drafts, with a number appended to ids that would otherwise be the same."""
    seen: Counter[str] = Counter()
    named: list[ModelFile] = []
    for draft in drafts:
        seen[draft.model.id] += 1
        count = seen[draft.model.id]
        tail = f"-{count}" if count > 1 else ""
        model_id = draft.model.id[: _ID_LENGTH - len(tail)] + tail
        named.append(replace(draft, model=replace(draft.model, id=model_id)))
    return tuple(named)


def _arms(
    method: Method, drafts: tuple[ModelFile, ...], among: Sequence[Method]
) -> Iterator[ArmPlan]:
    ids = _draft_ids(method, drafts, among)
    is_control = METHODS[method.type].control is not None or method.scripted
    for draft in ids:
        tail = "" if draft is None or len(ids) == 1 else f"-{draft}"
        yield ArmPlan(
            id=(label(method) + tail)[:_ID_LENGTH].rstrip("-._"),
            role="control" if is_control else "speculation",
            method=structs.replace(method, draft=draft),
            baseline=BASELINE,
        )


def _draft_ids(
    method: Method, drafts: tuple[ModelFile, ...], among: Sequence[Method]
) -> Sequence[str | None]:
    """Return one draft id for each arm of a method; `None` for a chain, or if no draft is used."""
    if method.chain:
        if len(drafts) > 1 or (needs_draft(method) and not drafts):
            raise BadInputError(
                f"the chain {method.name} needs exactly one draft; name it with --draft"
            )
        return [None]
    used = drafts_of(method, drafts, among=among)
    if not used and needs_draft(method):
        raise BadInputError(
            f"none of the given drafts works with {method.type}; add a suitable draft with --draft"
        )
    return [draft.model.id for draft in used] or [None]


def _alternative(layers: int) -> ArmPlan:
    """Return a baseline that puts this many layers on the GPU, as if no draft needed memory."""
    name = "all" if layers == ALL_LAYERS else str(layers)
    return ArmPlan(
        id=f"{BASELINE}-gpu-layers-{name}",
        role="alternative",
        method=NO_SPECULATION,
        baseline=BASELINE,
        gpu_layers=layers,
    )


def _at_level(arm: ArmPlan, level: int) -> ArmPlan:
    """Return an arm at a level of concurrency, compared with the baseline at the same level."""
    if level == 1:
        return arm
    tail = f"-c{level}"
    return replace(
        arm,
        id=arm.id[: _ID_LENGTH - len(tail)] + tail,
        baseline=None if arm.baseline is None else arm.baseline + tail,
        concurrency=level,
    )
