"""How does `llama-bench -o json` (or jsonl) read? Speeds without speculation: a baseline only.

A test of generation feeds `n_gen` single tokens after a given first one, so that its time covers
`n_gen` steps: n_gen + 1 tokens, the first included.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from harness.importers.entries import Entry, lines
from harness.importers.model import BASELINE, ArmRead, Format, Given, Part, Reading, Record
from harness.importers.translate import id_of, model_facts
from harness.importers.trials import written

_NS_PER_MS, _NS_PER_S = 1e6, 1e9
_BACKENDS = {"cuda": "cuda", "vulkan": "vulkan", "metal": "metal", "rocm": "rocm", "hip": "rocm",
             "sycl": "sycl", "opencl": "opencl", "cann": "cann", "musa": "musa", "mtl": "metal",
             "webgpu": "webgpu", "openvino": "openvino", "hexagon": "npu",
             "blas": "cpu", "": "cpu"}  # fmt: skip
_FLASH = {"0": "off", "1": "on", "-1": "auto", "False": "off", "True": "on"}
_COUNTS = {
    "build_number": "build",
    "n_batch": "batch",
    "n_ubatch": "micro_batch",
    "n_threads": "threads",
    "model_n_params": "parameters",
}
_TEXTS = {"build_commit": "engine_commit", "type_k": "kv_type_k", "type_v": "kv_type_v"}
# What builds that speculate in it add to a test.
_DRAFTS = ("draft_model", "model_draft", "spec_type", "speculative", "n_draft")
_PLAIN = (None, "", "none", "off", False, 0)


def read(files: Sequence[Given]) -> Reading:
    """One part for every model, build, device and setting."""
    left_out: list[str] = []
    groups: dict[tuple[tuple[str, str], ...], list[Entry]] = {}
    for file in files:
        for row in lines(file):
            if row.count("n_gen") is None:
                row.refuse("n_gen", "the number of generated tokens of a test")
            if row.count("n_gen") == 0 or row.count("n_prompt"):
                left_out.append(f"{row.place}: a test that processes a prompt; not generation only")
                continue
            if any(row.value.get(key) not in _PLAIN for key in _DRAFTS):
                left_out.append(f"{row.place}: a test with speculation, which is no baseline")
                continue
            groups.setdefault(tuple(sorted(_facts(row).items())), []).append(row)
    parts = [_part(dict(facts), rows) for facts, rows in groups.items()]
    return Reading(parts=tuple(_numbered(parts)), left_out=tuple(left_out))


def _part(facts: dict[str, str], rows: list[Entry]) -> Part:
    return Part(
        name=id_of(f"{facts.get('target', 'model')}-{facts.get('backend', 'backend')}"),
        suite="llama-bench",
        facts=facts | _window(rows),
        arms=(ArmRead(name=BASELINE, method="none"),),
        records=tuple(record for row in rows for record in _records(row)),
    )


def _numbered(parts: list[Part]) -> Iterator[Part]:
    """The same model with other settings gets another name."""
    seen: dict[str, int] = {}
    for part in parts:
        seen[part.name] = seen.get(part.name, 0) + 1
        number = f"-{seen[part.name]}" if seen[part.name] > 1 else ""
        yield Part(
            name=f"{part.name}{number}",
            suite=part.suite,
            facts=part.facts,
            arms=part.arms,
            records=part.records,
        )


def _records(row: Entry) -> Iterator[Record]:
    tokens, depth = row.count("n_gen") or 0, row.count("n_depth") or 0
    prompt = f"tg{tokens}" + (f"-d{depth}" if depth else "")
    samples = row.numbers("samples_ns")
    if samples is None:
        row.refuse("samples_ns", "the times of the repetitions")
    for nanoseconds in filter(None, samples):
        yield Record(
            arm=BASELINE,
            prompt=prompt,
            place=row.place,
            prompt_tokens=depth or None,
            output_tokens=tokens + 1,
            decode_ms=nanoseconds / _NS_PER_MS,
        )


def _facts(row: Entry) -> dict[str, str]:
    facts = {"engine": "llama.cpp", "sampling": "other"}  # random tokens are fed
    facts |= model_facts(row.text("model_filename") or "")
    for key, fact in _COUNTS.items():
        if (count := row.count(key)) is not None:
            facts[fact] = str(count)
    for key, fact in _TEXTS.items():
        if (value := row.text(key)) is not None:
            facts[fact] = value
    return facts | _devices(row) | _placed(row)


def _devices(row: Entry) -> dict[str, str]:
    """Backend, processor and GPUs; BLAS next to a GPU's backend is the host's."""
    facts: dict[str, str] = {}
    # Tools around llama-bench add a word: "Vulkan RADV".
    named = [name.lower().split(" ")[0] for name in (row.text("backends") or "").split(",")]
    known = [_BACKENDS[name] for name in named if name in _BACKENDS]
    if known:
        facts["backend"] = next((name for name in known if name != "cpu"), "cpu")
    if (cpu := row.text("cpu_info")) is not None:
        facts["cpu"] = cpu.split(", ")[0]
    cards = _cards(row, backends=len({name for name in known if name != "cpu"}))
    if cards:
        facts["gpu"] = ", ".join(cards)
    return facts


def _cards(row: Entry, *, backends: int) -> list[str]:
    """The GPUs that a test used: those listed, or the main one where the model was not split."""
    cards = [name.strip() for name in (row.text("gpu_info") or "").split(",") if name.strip()]
    if backends > 1:
        return list(dict.fromkeys(cards))  # each backend lists the same cards
    main = row.count("main_gpu") or 0
    if row.text("split_mode") == "none" and main < len(cards):
        return [cards[main]]
    return cards


def _placed(row: Entry) -> dict[str, str]:
    facts: dict[str, str] = {}
    flash = _FLASH.get(str(row.value.get("flash_attn")))
    if flash is not None:
        facts["flash_attention"] = flash
    if (split := row.text("split_mode")) in ("row", "tensor"):  # layer is the usual one
        facts["split_mode"] = split
    layers = row.value.get("n_gpu_layers")
    if isinstance(layers, int):
        facts["gpu_layers"] = str(layers)
    return facts


def _window(rows: Sequence[Entry]) -> dict[str, str]:
    """From the first test's time to the last one's with its repetitions."""
    starts = [
        (row.text("test_time"), sum(filter(None, row.numbers("samples_ns") or ()))) for row in rows
    ]
    known = [(time, spent) for time, spent in starts if time is not None]
    if len(known) < len(starts):
        return {}
    last, spent = max(known)
    try:
        end = datetime.fromisoformat(last) + timedelta(seconds=1 + spent / _NS_PER_S)
        start = datetime.fromisoformat(min(known)[0])
        return {"measured_from": written(start), "measured_until": written(end)}
    except (ValueError, OverflowError):
        rows[0].refuse("test_time", "a time such as 2026-05-17T09:00:00Z")


FORMAT = Format(
    read=read,
    signs=(frozenset({"n_gen", "model_filename"}), frozenset({"n_gen", "avg_ts"})),
    help="""`-o json` or `-o jsonl`. Has everything but speculation: a baseline only.

- `--from llama-bench bench.json`""",
)
