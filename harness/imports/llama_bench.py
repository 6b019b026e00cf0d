"""Import output of `llama-bench -o json` (or jsonl) as a baseline: speeds without speculation.

A test of a few prompt tokens (`-p 1,2,4,8,16`) times a step of that width. The tests of several
widths form a verification curve.

A generation test times `n_gen` single-token steps after a given first token. Its output counts as
n_gen + 1 tokens, including the first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from estimates.decomposition import curve_of
from harness.imports.foreign_names import id_of, target_facts
from harness.imports.json_values import Value, rows
from harness.imports.needed_facts import ImportedFacts
from harness.imports.records import Format, ParsedFiles, Part, Record
from harness.imports.source_files import BASELINE, Given
from harness.run.record import utc
from schemas.rig import Backend
from schemas.submission import FlashAttention, Probes, SplitMode

_NS_PER_MS, _NS_PER_S = 1e6, 1e9
_WIDEST = 64  # the widest verification step; more tokens are a prompt
_FACTS = {
    "engine_commit": "build_commit",
    "build": "build_number",
    "batch": "n_batch",
    "micro_batch": "n_ubatch",
    "threads": "n_threads",
    "kv_type_k": "type_k",
    "kv_type_v": "type_v",
}
_BACKENDS: dict[str, Backend] = {
    "cuda": "cuda", "vulkan": "vulkan", "metal": "metal", "mtl": "metal", "rocm": "rocm",
    "hip": "rocm", "sycl": "sycl", "opencl": "opencl", "cann": "cann", "musa": "musa",
    "webgpu": "webgpu", "openvino": "openvino", "hexagon": "npu", "blas": "cpu", "": "cpu",
}  # fmt: skip
_FLASH: dict[str, FlashAttention] = {
    "0": "off", "1": "on", "-1": "auto", "False": "off", "True": "on",
}  # fmt: skip
_SPLITS: dict[str | None, SplitMode] = {"row": "row", "tensor": "tensor"}  # layer is usual
# The fields that builds with speculation add to a test.
_DRAFTS = ("draft_model", "model_draft", "spec_type", "speculative", "n_draft")
_PLAIN = (None, "", "none", "off", False, 0)
_Groups = defaultdict[ImportedFacts, list[Value]]


def read(files: Sequence[Given]) -> ParsedFiles:
    """Read the files; each combination of model, build, device and settings becomes one part."""
    left_out: list[str] = []
    groups, curves = _sorted((row for file in files for row in rows(file)), left_out)
    parts, seen = [], Counter[str]()
    for facts in dict.fromkeys((*groups, *curves)):
        steps = curves.get(facts, [])
        # Without a generation test, a step of one token is the baseline.
        tests = groups.get(facts) or [row for row in steps if row.at("n_prompt").count() == 1]
        if not tests:
            fault = "it has steps of several tokens, but no step of one token"
            left_out.append(f"{steps[0].place}: {fault}")
            continue
        name = id_of(f"{facts.target or 'model'}-{facts.backend or 'backend'}")
        seen[name] += 1
        part = Part(
            name=f"{name}-{seen[name]}" if seen[name] > 1 else name,  # with other settings
            suite="llama-bench",
            facts=facts | _window(tests),
            records=tuple(record for row in tests for record in _records(row)),
            probes=_curve(steps),
        )
        parts.append(part)
    return ParsedFiles(parts, left_out)


def _sorted(tests: Iterable[Value], left_out: list[str]) -> tuple[_Groups, _Groups]:
    """Return the generation tests and the step tests, each grouped by model, build and settings."""
    groups, curves = _Groups(list), _Groups(list)
    for row in tests:
        generated, width = row.at("n_gen").count(), row.at("n_prompt").count()
        if generated is None:
            row.at("n_gen").refuse("the test's number of generated tokens")
        if any(row.at(key).json not in _PLAIN for key in _DRAFTS):
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


def _times_ns(row: Value) -> list[float]:
    """Return the times of the repetitions, without those that are unknown or 0."""
    samples = row.at("samples_ns").each() if row.has("samples_ns") else []
    return [ns for ns in (each.number() for each in samples) if ns]


def _curve(steps: Sequence[Value]) -> Probes | None:
    """Return the verification curve at context depth 0; `None` if it has fewer than two widths."""
    times = {
        row.at("n_prompt").count() or 0: [ns / _NS_PER_MS for ns in _times_ns(row)]
        for row in steps
        if not row.at("n_depth").count()
    }
    widths = {width: ms for width, ms in sorted(times.items()) if ms}
    if len(widths) < 2:  # noqa: PLR2004 - a curve
        return None
    return Probes(verification=curve_of(widths, context_tokens=0))


def _records(row: Value) -> Iterator[Record]:
    tokens = row.at("n_gen").count() or row.at("n_prompt").count() or 0
    depth = row.at("n_depth").count() or 0
    if not row.has("samples_ns"):
        row.at("samples_ns").refuse("the times of the repetitions")
    for nanoseconds in _times_ns(row):
        yield Record(
            arm=BASELINE,
            prompt=f"tg{tokens}" + (f"-d{depth}" if depth else ""),
            place=row.place,
            prompt_tokens=depth or None,
            output_tokens=tokens + 1,
            decode_ms=nanoseconds / _NS_PER_MS,
        )


def _facts(row: Value) -> ImportedFacts:
    """Return a test's facts, with the backend and the GPUs that it used; BLAS counts as the CPU."""
    parameters, layers = row.at("model_n_params").count(), row.at("n_gpu_layers").json
    split, main = row.at("split_mode").text(), row.at("main_gpu").count() or 0
    # Tools around llama-bench add a word: "Vulkan RADV".
    words = [name.lower().split(" ")[0] for name in (row.at("backends").text() or "").split(",")]
    backends = [_BACKENDS[word] for word in words if word in _BACKENDS]
    devices = dict.fromkeys(name for name in backends if name != "cpu")
    cards = [*filter(None, map(str.strip, (row.at("gpu_info").text() or "").split(",")))]
    if len(devices) > 1:
        cards = list(dict.fromkeys(cards))  # each backend lists the same GPUs
    elif split == "none":
        cards = cards[main : main + 1] or cards  # the main GPU has the whole model
    return target_facts(row.at("model_filename").text()) | ImportedFacts(
        engine="llama.cpp",
        sampling="other",  # llama-bench's tokens are random
        parameters=None if parameters is None else str(parameters),
        flash_attention=_FLASH.get(str(row.at("flash_attn").json)),
        split_mode=_SPLITS.get(split),
        gpu_layers=layers if isinstance(layers, int) else None,
        backend=next(iter(devices), "cpu") if backends else None,
        cpu=(row.at("cpu_info").text() or "").split(", ")[0] or None,
        gpu=", ".join(cards) or None,
        **row.fields(ImportedFacts, _FACTS),
    )


def _window(tests: Sequence[Value]) -> ImportedFacts:
    """Return the start of the first test and the end of the last test's repetitions."""
    moments = [(row.at("test_time").text() or "", sum(_times_ns(row))) for row in tests]
    if not all(started for started, _ in moments):
        return ImportedFacts()
    (first, _), (last, spent) = min(moments), max(moments)
    try:
        end = datetime.fromisoformat(last) + timedelta(seconds=1 + spent / _NS_PER_S)
        began = datetime.fromisoformat(first)
        return ImportedFacts(measured_from=utc(began), measured_until=utc(end))
    except (ValueError, OverflowError):
        tests[0].at("test_time").refuse("a time such as 2026-05-17T09:00:00Z")


FORMAT = Format(
    read=read,
    signs=(frozenset({"n_gen", "model_filename"}), frozenset({"n_gen", "avg_ts"})),
    help="""the output of `-o json` or `-o jsonl`. It has a baseline and, with `-p 1,2,4,8,16`, the
cost of wider steps, but no speculation.

- `--from llama-bench bench.json`""",
)
