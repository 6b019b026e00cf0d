"""Import output of `llama-bench -o json` (or jsonl) as a baseline: speeds without speculation.

A test of a few prompt tokens (`-p 1,2,4,8,16`) times a step of that width. The tests of several
widths form a verification curve.

A generation test times `n_gen` single-token steps after a given first token. Its output counts as
n_gen + 1 tokens, including the first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from harness.imports.foreign_names import id_of, target_facts
from harness.imports.json_values import JsonObject, lines
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record, arms
from harness.imports.source_files import BASELINE, Given
from harness.run.record import utc
from harness.runners.probes import curve_of
from schemas.axes import FlashAttention, SplitMode
from schemas.rig import Backend
from schemas.submission import Probes

_NS_PER_MS, _NS_PER_S = 1e6, 1e9
_WIDEST = 64  # the widest verification step; more tokens are a prompt
_BACKENDS: dict[str, Backend] = {
    "cuda": "cuda", "vulkan": "vulkan", "metal": "metal", "mtl": "metal", "rocm": "rocm",
    "hip": "rocm", "sycl": "sycl", "opencl": "opencl", "cann": "cann", "musa": "musa",
    "webgpu": "webgpu", "openvino": "openvino", "hexagon": "npu", "blas": "cpu", "": "cpu",
}  # fmt: skip
_FLASH: dict[str, FlashAttention] = {
    "0": "off", "1": "on", "-1": "auto", "False": "off", "True": "on",
}  # fmt: skip
_SPLITS: dict[str, SplitMode] = {"row": "row", "tensor": "tensor"}  # layer is usual
# The fields that builds with speculation add to a test.
_DRAFTS = ("draft_model", "model_draft", "spec_type", "speculative", "n_draft")
_PLAIN = (None, "", "none", "off", False, 0)


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read the files; each combination of model, build, device and settings becomes one part."""
    left_out: list[str] = []
    groups, curves = _sorted((row for file in files for row in lines(file)), left_out)
    parts, seen = [], Counter[str]()
    for facts in dict.fromkeys((*groups, *curves)):
        steps = curves.get(facts, [])
        # Without a generation test, a step of one token is the baseline.
        rows = groups.get(facts) or [row for row in steps if row.count("n_prompt") == 1]
        if not rows:
            left_out.append(
                f"{steps[0].place}: it has steps of several tokens, but no step of one token"
            )
            continue
        name = id_of(f"{facts.target or 'model'}-{facts.backend or 'backend'}")
        seen[name] += 1
        part = Part(
            name=f"{name}-{seen[name]}" if seen[name] > 1 else name,  # with other settings
            suite="llama-bench",
            facts=facts | _window(rows),
            arms=arms((), ()),
            records=tuple(record for row in rows for record in _records(row)),
            probes=_curve(steps),
        )
        parts.append(part)
    return ParsedFiles(parts=tuple(parts), left_out=tuple(left_out))


_Groups = defaultdict[ImportedFacts, list[JsonObject]]


def _sorted(rows: Iterable[JsonObject], left_out: list[str]) -> tuple[_Groups, _Groups]:
    """Return the generation tests and the step tests, each grouped by model, build and settings."""
    groups, curves = _Groups(list), _Groups(list)
    for row in rows:
        words = "the test's number of generated tokens"
        generated, width = row.needed("n_gen", row.count("n_gen"), words), row.count("n_prompt")
        if any(row.fields.get(key) not in _PLAIN for key in _DRAFTS):
            left_out.append(f"{row.place}: the test uses speculation, so it is not a baseline")
        elif not generated and width and width <= _WIDEST:
            curves[_facts(row)].append(row)
        elif not generated or width:
            left_out.append(
                f"{row.place}: the test also processes a prompt; only tests of pure generation "
                "are imported"
            )
        else:
            groups[_facts(row)].append(row)
    return groups, curves


def _curve(rows: Sequence[JsonObject]) -> Probes | None:
    """Return the verification curve at context depth 0; `None` if it has fewer than two widths."""
    times = {
        row.count("n_prompt") or 0: [
            ns / _NS_PER_MS for ns in row.numbers("samples_ns") or () if ns
        ]
        for row in rows
        if not row.count("n_depth")
    }
    steps = {width: ms for width, ms in sorted(times.items()) if ms}
    if len(steps) < 2:  # noqa: PLR2004 - a curve
        return None
    return Probes(verification=curve_of(steps, context_tokens=0))


def _records(row: JsonObject) -> Iterator[Record]:
    tokens, depth = row.count("n_gen") or row.count("n_prompt") or 0, row.count("n_depth") or 0
    prompt = f"tg{tokens}" + (f"-d{depth}" if depth else "")
    words = "the times of the repetitions"
    for nanoseconds in filter(None, row.needed("samples_ns", row.numbers("samples_ns"), words)):
        yield Record(
            arm=BASELINE,
            prompt=prompt,
            place=row.place,
            prompt_tokens=depth or None,
            output_tokens=tokens + 1,
            decode_ms=nanoseconds / _NS_PER_MS,
        )


def _facts(row: JsonObject) -> ImportedFacts:
    parameters, layers = row.count("model_n_params"), row.fields.get("n_gpu_layers")
    facts = ImportedFacts(
        engine="llama.cpp",
        engine_commit=row.text("build_commit"),
        build=row.count("build_number"),
        sampling="other",  # llama-bench's tokens are random
        parameters=None if parameters is None else str(parameters),
        batch=row.count("n_batch"),
        micro_batch=row.count("n_ubatch"),
        threads=row.count("n_threads"),
        kv_type_k=row.text("type_k"),
        kv_type_v=row.text("type_v"),
        flash_attention=_FLASH.get(str(row.fields.get("flash_attn"))),
        split_mode=_SPLITS.get(row.text("split_mode") or ""),
        gpu_layers=layers if isinstance(layers, int) else None,
    )
    return facts | target_facts(row.text("model_filename")) | _devices(row)


def _devices(row: JsonObject) -> ImportedFacts:
    """Return a test's backend, CPU, and the GPUs that it used; BLAS counts as the CPU."""
    # Tools around llama-bench add a word: "Vulkan RADV".
    words = [name.lower().split(" ")[0] for name in (row.text("backends") or "").split(",")]
    backends = [_BACKENDS[word] for word in words if word in _BACKENDS]
    devices = dict.fromkeys(name for name in backends if name != "cpu")
    cards = [name.strip() for name in (row.text("gpu_info") or "").split(",") if name.strip()]
    main = row.count("main_gpu") or 0
    if len(devices) > 1:
        cards = list(dict.fromkeys(cards))  # each backend lists the same GPUs
    elif row.text("split_mode") == "none":
        cards = cards[main : main + 1] or cards  # the main GPU has the whole model
    return ImportedFacts(
        backend=next(iter(devices), "cpu") if backends else None,
        cpu=(row.text("cpu_info") or "").split(", ")[0] or None,
        gpu=", ".join(cards) or None,
    )


def _window(rows: Sequence[JsonObject]) -> ImportedFacts:
    """Return the start of the first test and the end of the last test's repetitions."""
    tests = [
        (row.text("test_time") or "", sum(filter(None, row.numbers("samples_ns") or ())))
        for row in rows
    ]
    if not all(started for started, _ in tests):
        return ImportedFacts()
    (first, _), (last, spent) = min(tests), max(tests)
    try:
        end = datetime.fromisoformat(last) + timedelta(seconds=1 + spent / _NS_PER_S)
        return ImportedFacts(
            measured_from=utc(datetime.fromisoformat(first)), measured_until=utc(end)
        )
    except (ValueError, OverflowError):
        rows[0].refuse("test_time", "a time such as 2026-05-17T09:00:00Z")


FORMAT = Format(
    read=read,
    signs=(frozenset({"n_gen", "model_filename"}), frozenset({"n_gen", "avg_ts"})),
    help="""the output of `-o json` or `-o jsonl`. It has a baseline and, with `-p 1,2,4,8,16`, the
cost of wider steps, but no speculation.

- `--from llama-bench bench.json`""",
)
