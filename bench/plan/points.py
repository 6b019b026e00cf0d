"""Read what to plan from a list of architecture facts, such as a list of measured memory.

A point names a model, its shape (`arch`) and settings; what was measured with it is not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from estimates.plan.memory import KV_TYPE_BYTES, state_bytes
from estimates.plan.model import MIB, Era, Facts, Layer, Memory, Setting
from estimates.plan.placement import free_of
from estimates.plan.shapes import facts_of, quantisation_of, scaled, shape_of

_GIB = 1024
_NO_LIMIT_MIB = 1e9
# The first build numbers and pull requests with room for the logits of few tokens only.
_FEW_LOGITS_BUILD, _FEW_LOGITS_PULL_REQUEST = 9300, 23269
_SMALLEST_BUILD_NUMBER = 1000
_FIRST_YEAR_OF_FEW_LOGITS = 2026
_SERVER_SLOTS = 4  # what llama-server chooses for itself (`n_parallel = auto`)
_DEFAULT_UBATCH = 512
_USUAL = "Q4_K_M"
# About what a token's text, type and merge take in the header of a file.
_TOKEN_BYTES = 44.0
_SIZES = re.compile(r"(?P<bytes>[\d,]+) ?B\b|(?P<gib>\d+(?:\.\d+)?) ?GiB")
_ON_DEVICE = re.compile(r"\((\d+(?:\.\d+)?) MiB\)")
_SUMMED = re.compile(r"(\d+(?:\.\d+)?)\+(\d+(?:\.\d+)?) ?MiB")
_BUILD = re.compile(r"\bb(\d+)")
_PULL_REQUEST = re.compile(r"PR #(\d+)")
_YEAR = re.compile(r"\b(20\d\d)-(\d\d)")
_CARD = re.compile(r"(\d+) ?GB")
_PLACED = re.compile(r"\s*(\d+)\s*/\s*(\d+)")

Fields = Mapping[str, object]


class PointError(ValueError):
    """A point that nothing can be planned from; the message says what to add."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What is to be planned. `layers` is a fixed placement; `None` leaves it to the planner."""

    name: str
    facts: Facts
    setting: Setting
    uses_head: bool
    layers: int | None
    devices: tuple[Memory, ...]


def point_of(value: object) -> Point:
    """The point that a decoded object describes. Raises `PointError`."""
    if not isinstance(value, dict):
        message = "the facts are not an object with `arch` and `n_ctx`; give one point of a list"
        raise PointError(message)
    fields: Fields = value
    facts = _facts(fields)
    mtp = fields.get("mtp")
    return Point(
        name=str(fields.get("id") or fields.get("model") or "facts"),
        facts=facts,
        setting=_setting(fields, mtp if isinstance(mtp, dict) else {}),
        uses_head=isinstance(mtp, dict),
        layers=_fixed_layers(fields, facts),
        devices=_devices(fields),
    )


def _facts(fields: Fields) -> Facts:
    name = str(fields.get("model") or "")
    arch = fields.get("arch")
    given: Fields = arch if isinstance(arch, dict) else {}
    shape = shape_of(name)
    if shape is None and not given:
        message = (
            f"nothing is known about the shape of {name or 'this model'!r}: "
            "add `arch` with kv_layers, k_gqa, v_gqa, n_embd and n_vocab"
        )
        raise PointError(message)
    if shape is None:
        return _bare_facts(name, given, fields)
    placed = _placed(fields)
    head = "mtp" in fields or (placed is not None and placed[1] > shape.layers + 1)
    bits = quantisation_of(str(fields.get("quant") or ""))
    whole, on_device = _known_bytes(fields, shape.vocabulary)
    facts = facts_of(shape, bits, file_bytes=whole, device_bytes=on_device, with_head=head)
    return replace(_with_given_widths(facts, given), name=name or facts.name)


def _with_given_widths(facts: Facts, given: Fields) -> Facts:
    """The facts with the widths, windows and states that the point states itself."""
    if not given:
        return facts
    layers = _layers(given, len(facts.layers))
    if len(layers) != len(facts.layers):
        return replace(facts, layers=layers, draft_layers=())
    merged = tuple(
        replace(mine, weight_bytes=old.weight_bytes, expert_bytes=old.expert_bytes)
        for mine, old in zip(layers, facts.layers, strict=True)
    )
    head = tuple(
        replace(layer, k_width=_whole(given, "k_gqa"), v_width=_whole(given, "v_gqa"))
        for layer in facts.draft_layers
    )
    return replace(
        facts,
        layers=merged,
        draft_layers=head,
        embedding=_whole(given, "n_embd") or facts.embedding,
        vocabulary=_whole(given, "n_vocab") or facts.vocabulary,
    )


def _bare_facts(name: str, given: Fields, fields: Fields) -> Facts:
    """Facts of a model that the table of shapes does not have."""
    layers = _layers(given, 0)
    embedding = _whole(given, "n_embd") or 0
    head = isinstance(fields.get("mtp"), dict)
    one = Layer(k_width=_whole(given, "k_gqa"), v_width=_whole(given, "v_gqa"))
    facts = Facts(
        name=name,
        embedding=embedding,
        vocabulary=_whole(given, "n_vocab") or 0,
        layers=layers,
        draft_layers=(one,) if head else (),
        feed_forward=_whole(given, "n_ff") or None,
        heads=_whole(given, "n_head") or None,
        experts=_whole(given, "n_expert"),
        experts_used=_whole(given, "n_expert_used"),
        expert_feed_forward=_whole(given, "n_ff_exp"),
        weights_known=False,
    )
    whole, on_device = _known_bytes(fields, facts.vocabulary)
    if whole is None and on_device is None:
        return facts
    bits = quantisation_of(str(fields.get("quant") or "")) or quantisation_of(_USUAL)
    matrix = facts.vocabulary * embedding / 8
    alike = replace(
        facts,
        embedding_bytes=matrix * bits.embedding if bits else 0.0,
        output_bytes=matrix * bits.output if bits else 0.0,
        layers=tuple(replace(layer, weight_bytes=1.0) for layer in layers),
        draft_layers=tuple(replace(layer, weight_bytes=1.0) for layer in facts.draft_layers),
    )
    return scaled(alike, file_bytes=whole, device_bytes=on_device)


def _layers(given: Fields, count: int) -> tuple[Layer, ...]:
    """The layers in their order: every so many attend to everything, as their counts tell."""
    full = _whole(given, "kv_layers")
    windows, states = _whole(given, "swa_layers"), _whole(given, "rs_layers")
    total = count if count == full + windows + states else full + windows + states
    every = max(1, round(total / full)) if full else total + 1
    attention = Layer(k_width=_whole(given, "k_gqa"), v_width=_whole(given, "v_gqa"))
    window = Layer(
        k_width=_whole(given, "swa_k_gqa") or attention.k_width,
        v_width=_whole(given, "swa_v_gqa") or attention.v_width,
        window=_whole(given, "n_swa") or None,
    )
    state = Layer(
        state_bytes=state_bytes(
            d_conv=_whole(given, "d_conv") or 1,
            d_inner=_whole(given, "d_inner"),
            d_state=_whole(given, "d_state"),
            groups=_whole(given, "n_group"),
        )
    )
    left = {"full": full, "window": windows, "state": states}
    kinds = {"full": attention, "window": window, "state": state}
    order = []
    for index in range(total):
        wanted = "full" if (index + 1) % every == 0 and left["full"] else None
        kind = wanted or max(("window", "state"), key=lambda name: left[name])
        kind = kind if left[kind] else "full"
        left[kind] -= 1
        order.append(kinds[kind])
    return tuple(order)


def _setting(fields: Fields, mtp: Fields) -> Setting:
    slots = _whole(fields, "n_seq_max") or _SERVER_SLOTS
    engine = str(fields.get("engine") or "")
    arch = fields.get("arch")
    kv = str(fields.get("kv_type") or "f16").lower()
    kv = kv if kv in KV_TYPE_BYTES else "f16"
    unified = fields.get("kv_unified")
    rollback = _whole(mtp, "n_rs_seq") if "n_rs_seq" in mtp else _whole(mtp, "n_max")
    return Setting(
        context=_context(fields.get("n_ctx")),
        slots=slots,
        unified=True if unified is None else bool(unified),
        kv_k=str(fields.get("kv_type_k") or kv),
        kv_v=str(fields.get("kv_type_v") or kv),
        ubatch=_whole(fields, "n_ubatch") or _DEFAULT_UBATCH,
        flash_attention=fields.get("flash_attn") is not False,
        whole_window=isinstance(arch, dict) and bool(arch.get("full_swa")),
        rollback_states=rollback,
        outputs=1,
        era=_era(engine),
    )


def _era(engine: str) -> Era:
    """Whether this build reserves logits for every token, by its number or date."""
    builds = [int(found) for found in _BUILD.findall(engine)]
    builds = [number for number in builds if number >= _SMALLEST_BUILD_NUMBER]
    if builds:
        return "few-logits" if builds[0] >= _FEW_LOGITS_BUILD else "all-logits"
    pull_request = _PULL_REQUEST.search(engine)
    if pull_request:
        new = int(pull_request[1]) >= _FEW_LOGITS_PULL_REQUEST
        return "few-logits" if new else "all-logits"
    dated = _YEAR.search(engine)
    if dated:
        new = (int(dated[1]), int(dated[2])) > (_FIRST_YEAR_OF_FEW_LOGITS, 5)
        return "few-logits" if new else "all-logits"
    # A build that is not named is taken for an older one, whose buffer is the larger.
    return "all-logits" if engine else "few-logits"


def _known_bytes(fields: Fields, vocabulary: int) -> tuple[float | None, float | None]:
    """Bytes of all weights, and of all but the token embedding, as far as the point knows them."""
    quant = str(fields.get("quant") or "")
    summed = _SUMMED.search(quant)
    if summed:
        return None, (float(summed[1]) + float(summed[2])) * MIB
    on_device = _ON_DEVICE.search(quant)
    if on_device:
        return None, float(on_device[1]) * MIB
    for text in (str(fields.get("file") or ""), quant):
        found = _SIZES.search(text)
        if found and found["bytes"]:
            return float(found["bytes"].replace(",", "")) - vocabulary * _TOKEN_BYTES, None
        if found and found["gib"]:
            return float(found["gib"]) * _GIB * MIB, None
    gib = _number(fields.get("file_gib")) or 0
    return gib * _GIB * MIB or None, None


def _devices(fields: Fields) -> tuple[Memory, ...]:
    free = _number(fields.get("free_mib_at_fit"))
    name = str(fields.get("device") or "GPU")
    size = _CARD.search(name)
    if free is None and size is not None:
        free = free_of(float(size[1]) * _GIB)
    return (Memory(name=name, free_mib=free if free is not None else _NO_LIMIT_MIB),)


def _fixed_layers(fields: Fields, facts: Facts) -> int | None:
    """The layers that were asked for; `None` where the engine chose them by the free memory."""
    asked = fields.get("ngl")
    if isinstance(asked, int):
        return min(asked, facts.placed_layers)
    if isinstance(asked, str) and asked.startswith("fit"):
        return None if _devices(fields)[0].free_mib < _NO_LIMIT_MIB else facts.placed_layers
    return facts.placed_layers


def _placed(fields: Fields) -> tuple[int, int] | None:
    found = _PLACED.match(str(fields.get("layers") or ""))
    return (int(found[1]), int(found[2])) if found else None


def _context(value: object) -> int:
    digits = re.match(r"\d+", str(value or ""))
    return int(digits[0]) if digits else 4096


def _whole(fields: Fields, key: str) -> int:
    value = fields.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)
