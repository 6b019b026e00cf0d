"""Generate valid submissions of every shape from a seed and the schema.

Counters follow from a sample that is consistent by construction. Optional fields are included at
random, and every method, role, outcome and tier occurs. Values are drawn from the schema's bounds,
lists and examples, names and notes from `data/variants.toml`.
"""

import json
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schemas.codec import canonical_bytes
from schemas.model_sizes import bits_of, size_in
from schemas.validator import SUBMISSION_SCHEMA, Schema, schema
from tests.leaves import leaves, with_value, without
from tests.samples import DEPTH, TASKS, sample, sample_bytes
from tests.schema_tree import resolved

Document = dict[str, Any]

_SCHEMA = schema(SUBMISSION_SCHEMA)
# Legitimate texts of people: devices, models, quantisations and notes, in many scripts.
VARIANTS: dict[str, list[str]] = tomllib.loads(
    (Path(__file__).parent / "data" / "variants.toml").read_text("utf-8")
)
# The definition of the allowed fields of each type of method.
_METHODS: dict[str, str] = {
    kind: branch["then"]["$ref"].removeprefix("#/$defs/")
    for branch in _SCHEMA["$defs"]["method"]["allOf"]
    for asked in [branch["if"]["properties"]["type"]]
    for kind in asked.get("enum", [asked.get("const")])
}
_A_GPU = {"kind": "gpu"}
_FAILED = ("arm", "prompt", "block", "order")
# In these places only the schema matters; elsewhere ids and counters must be consistent.
_FREE = ("tool", "machine", "engine", "environment")
_OPTIONAL_IN_TRIAL = (
    "prompt_ms", "draft_ms", "verify_ms", "wall_ms", "full_rounds", "round_ms_median",
    "round_cpu_ms_median", "finish", "output_sha256", "accepted_histogram",
)  # fmt: skip

# Replacement values for a change: every type, ends of ranges, dates that do not exist.
_OTHERS: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 0.5, 10**17, 1e300, "", "x", "x" * 2000, [], {}, [1], {"a": 1}),
    *("2026-02-29T09:00:00Z", "2026-02-28T24:00:00Z", "2026-02-28T09:00:60Z", "2026-02-30"),
    *("\u0662\u0660\u0662\u0666", "a\u0301", "A" * 64, "0" * 16, "<b>", "\U0001f600" * 70),
)
_STATED_IN_MODEL = (
    "family", "parameters", "architecture", "file_bytes", "sha256", "layers", "vocabulary_size",
    "tokenizer_sha256",
)  # fmt: skip
_STATED_IN_SETTINGS = (
    "kv_type_k", "kv_type_v", "batch_tokens", "micro_batch_tokens", "threads", "threads_batch",
)  # fmt: skip
_STATED_IN_PLACEMENT = ("target_gpu_layers_requested", "draft_gpu_layers_requested")
_STATED_IN_TRIAL: dict[str, set[str]] = {
    "llama-cpp-python": set(_OPTIONAL_IN_TRIAL) - {"prompt_ms"},
    "llama-server": {"wall_ms", "finish", "output_sha256"},
}


def submission_bytes(seed: int) -> bytes:
    """The canonical bytes of a valid submission, determined by the seed."""
    rng = random.Random(seed)  # noqa: S311 - synthetic data
    tasks = tuple(rng.sample(TASKS, rng.randint(1, 3)))
    made = sample(
        seed=seed, tasks=tasks, prompts_per_task=rng.randint(1, 2), blocks=rng.randint(1, 3)
    )
    document: Document = json.loads(sample_bytes(made))
    _around(rng, document)
    for arm in document["arms"]:
        _arm(rng, arm, document)
    failed = {arm["id"] for arm in document["arms"] if arm["outcome"] == "failed"}
    knows = _known_to_the_harness(rng, document)
    for model in (document["target"], *document["drafts"]):
        _size(rng, model)
    document["trials"] = [_trial(rng, trial, failed, kept=knows) for trial in document["trials"]]
    return canonical_bytes(document)


def changed_documents(count: int) -> Iterator[Document]:
    """Yield valid documents, each followed by three versions with one change."""
    rng = random.Random(1)  # noqa: S311 - synthetic data
    for seed in range(count):
        document: Document = json.loads(submission_bytes(seed))
        places = [path for path, _ in leaves(document)]
        yield document
        yield without(document, rng.choice(places))
        yield with_value(document, rng.choice(places), rng.choice(_OTHERS))
        yield with_value(document, rng.choice(places)[:-1] or ("notes",), rng.choice(_OTHERS))


def _known_to_the_harness(rng: random.Random, document: Document) -> set[str]:
    """Add the fields of a file measured by the harness; return the fields of a trial.

    They are repeated here, so that a rule that requires too much is found.
    """
    runner = document["engine"]["runner"]
    if document["tier"] != "measured" or runner not in _STATED_IN_TRIAL:
        return set()
    in_process = runner == "llama-cpp-python"
    engine = (
        ("package_version", "devices", "system_info")
        if in_process
        else ("version", "binary_sha256")
    )
    settings = (*_STATED_IN_SETTINGS, "flash_attention") if in_process else _STATED_IN_SETTINGS
    made = json.loads(sample_bytes(sample()))
    _complete(rng, document["engine"], "engine", engine)
    _add_gpu(rng, document)
    _complete(rng, document["settings"], "settings", settings)
    if not in_process:
        _complete(rng, document["design"], "design", ("interleaved",))
    for name in ("warmups", "environment"):
        document[name] = document.get(name) or made[name]
    document["warmups"] = made["warmups"]
    for snapshot in document["environment"]:
        _complete(rng, snapshot, "snapshot", ("load_1min", "available_ram_mib"))
    for device in document["engine"].get("devices", ()):
        _complete(rng, device, "device", ("memory_total_mib",))
    for model in (document["target"], *document["drafts"]):
        _complete(rng, model, "model", _STATED_IN_MODEL)
        model["active_parameters"] = model["parameters"]
    for arm in document["arms"]:
        _complete(rng, arm, "arm", ("load_s", "placement", *(() if in_process else ("argv",))))
        _complete(rng, arm["placement"], "placement", _STATED_IN_PLACEMENT)
    return _STATED_IN_TRIAL[runner]


def _add_gpu(rng: random.Random, document: Document) -> None:
    """A GPU among the devices that the engine lists, if it lists any."""
    if "devices" in document["engine"]:
        document["engine"]["devices"].append(drawn(rng, _SCHEMA["$defs"]["device"]) | _A_GPU)


def _complete(rng: random.Random, value: Document, definition: str, names: tuple[str, ...]) -> None:
    properties = _SCHEMA["$defs"][definition]["properties"]
    for name in names:
        if name not in value:
            value[name] = drawn(rng, properties[name])


def _around(rng: random.Random, document: Document) -> None:
    for name in _FREE:
        document[name] = drawn(rng, _SCHEMA["properties"][name])
    document["target"] = _model(rng, document["target"]["id"])
    document["drafts"] = [_model(rng, model["id"]) for model in document["drafts"]]
    _add_gpu(rng, document)
    kept = {"max_output_tokens": rng.randint(41, 4096), "context_tokens": rng.randint(141, 10**6)}
    document["settings"] = _settings(rng) | kept
    for name in ("contributor", "notes", "profile", "licence"):
        document[name] = drawn(rng, _SCHEMA["properties"][name])
    _written_by_people(rng, document)
    if rng.random() < 0.3:
        origin = _SCHEMA["$defs"]["origin"]
        document |= {"tier": "imported", "origin": drawn(rng, origin)}
        licence = drawn(rng, origin["properties"]["licence"])
        document["origin"].setdefault("licence", licence)
    else:
        _add_what_is_measured(rng, document)
    for name in ("contributor", "notes", "warmups", "probes", "environment"):
        if rng.random() < 0.3:
            document.pop(name, None)


def _settings(rng: random.Random) -> Document:
    """Settings that fit each other and the sample's prompts of 100 tokens."""
    made: Document = drawn(rng, _SCHEMA["$defs"]["settings"])
    if "context_depth_tokens" in made:
        made["context_depth_tokens"] = rng.randint(100, 116)
    if made["sampling"] == "greedy":
        return {k: v for k, v in made.items() if k not in {"temperature", "sampling_seed"}}
    return {"temperature": 0.7, "sampling_seed": 3} | made


def _written_by_people(rng: random.Random, document: Document) -> None:
    """Names of devices, models and quantisations as they are really spelled, and free notes."""
    machine, engine = document["machine"], document["engine"]
    # Half of them in ASCII.
    plain = rng.random() < 0.5
    words = {kind: [e for e in all_ if e.isascii() or not plain] for kind, all_ in VARIANTS.items()}
    for card in machine.get("gpus", ()):
        card["name"] = rng.choice(words["gpus"])
    for device in engine.get("devices", ()):
        if "description" in device:
            device["description"] = rng.choice(words["gpus"])
    if "name" in machine["cpu"]:
        machine["cpu"]["name"] = rng.choice(words["cpus"])
    document["target"]["name"] = rng.choice(words["targets"])
    for model in (document["target"], *document["drafts"]):
        model["quantisation"] = rng.choice(words["quantisations"])
    document["notes"] = rng.choice(words["notes"])
    if engine["backend"] != "other":
        engine.pop("backend_name", None)


def _add_what_is_measured(rng: random.Random, document: Document) -> None:
    """Add fields that a measured campaign has and an imported one may lack."""
    defs = _SCHEMA["$defs"]
    machine = defs["machine"]["properties"]
    wanted = _SCHEMA["allOf"][0]["then"]["properties"]
    for name in wanted["machine"]["required"]:
        document["machine"].setdefault(name, drawn(rng, machine[name]))
    for name in wanted["machine"]["properties"]["cpu"]["required"]:
        processor = document["machine"]["cpu"]
        processor.setdefault(name, drawn(rng, machine["cpu"]["properties"][name]))
    for part in ("engine", "settings"):
        for name in wanted[part]["required"]:
            document[part].setdefault(name, drawn(rng, defs[part]["properties"][name]))


def _model(rng: random.Random, name: str) -> Document:
    model = drawn(rng, _SCHEMA["$defs"]["model"]) | {"id": name}
    if "active_parameters" in model and "parameters" in model:
        model["active_parameters"] = rng.randint(1000, model["parameters"])
    return model


def _size(rng: random.Random, model: Document) -> None:
    """Set parameters that fit the model's name, and bytes that fit its quantisation."""
    if "parameters" not in model:
        return
    model["parameters"] = min(model["parameters"], 2 * 10**12)  # its file has at most 100 TB
    named = size_in(model["name"])
    if named is not None:
        scale = {"M": 1e6, "B": 1e9}[named[-1].upper()]
        model["parameters"] = int(float(named[:-1]) * scale * rng.uniform(0.6, 1.6))
    if "active_parameters" in model:
        model["active_parameters"] = model["parameters"]
    bits = bits_of(model["quantisation"])
    if bits is not None and "file_bytes" in model:
        per_weight = rng.uniform(*bits)
        model["file_bytes"] = max(1000, int(model["parameters"] * per_weight / 8))


def _arm(rng: random.Random, arm: Document, document: Document) -> None:
    """Give a speculative arm any method that is consistent with its trials' counters."""
    if arm["role"] == "speculation" and rng.random() < 0.7:
        kind = rng.choice(sorted(_METHODS.keys() - {"none", "empty-draft", "forced"}))
        arm["method"] = drawn(rng, _SCHEMA["$defs"][_METHODS[kind]]) | {"type": kind}
        arm["method"] |= {"n_max": rng.randint(DEPTH, 256)} if "n_max" in arm["method"] else {}
        if "draft" in arm["method"]:
            arm["method"]["draft"] = document["drafts"][0]["id"]
        if "ngram_min" in arm["method"]:
            arm["method"]["ngram_min"] = rng.randint(1, arm["method"]["ngram_max"])
    for name in ("concurrency", "placement", "argv", "load_s", "peak_memory"):
        arm.pop(name, None)
        if rng.random() < 0.5:
            arm[name] = drawn(rng, _SCHEMA["$defs"]["arm"]["properties"][name])
    if arm["role"] == "speculation" and rng.random() < 0.15:
        reason = drawn(rng, _SCHEMA["$defs"]["failure_reason"])
        arm |= {"outcome": "failed", "reason": reason}


def _trial(rng: random.Random, trial: Document, failed: set[str], *, kept: set[str]) -> Document:
    if trial["arm"] in failed or rng.random() < 0.05:
        reason = drawn(rng, _SCHEMA["$defs"]["failure_reason"])
        return {name: trial[name] for name in _FAILED} | {"outcome": "failed", "reason": reason}
    gone = {name for name in _OPTIONAL_IN_TRIAL if rng.random() < 0.15} - kept
    made = {name: value for name, value in trial.items() if name not in gone}
    if rng.random() < 0.2:
        made |= {"ttft_ms": rng.uniform(0, 1e8)}
    if rng.random() < 0.2 and "compared_tokens" in made:
        made |= {"first_divergence": rng.randint(0, 40), "divergence_margin": rng.uniform(0, 1000)}
    return made


def drawn(rng: random.Random, reference: Schema) -> Any:  # noqa: ANN401 - any JSON value
    """Draw a value that fits a subschema: optional fields at even odds, bounds included."""
    node = resolved(reference, _SCHEMA)
    match node.get("type"):
        case "object":
            needed = node.get("required", ())
            listed = node["properties"].items()
            wanted = {n: each for n, each in listed if n in needed or rng.random() < 0.5}
            return {name: drawn(rng, entry) for name, entry in wanted.items()}
        case "array" if resolved(node["items"], _SCHEMA).get("type") == "string":
            return rng.choice(node["examples"])
        case "array":
            count = rng.randint(node.get("minItems", 0), min(4, node["maxItems"]))
            return [drawn(rng, node["items"]) for _ in range(count)]
        case "integer" | "number" if "const" not in node:
            return _number(rng, node)
        case "boolean":
            return rng.random() < 0.5
    return rng.choice(_choices(node))


def _number(rng: random.Random, node: Schema) -> float:
    least, greatest = node["minimum"], node["maximum"]
    if rng.random() < 0.2:
        return rng.choice((least, greatest))
    return (
        rng.uniform(least, greatest) if node["type"] == "number" else rng.randint(least, greatest)
    )


def _choices(node: Schema) -> list[Any]:
    return [node["const"]] if "const" in node else node.get("enum") or node["examples"]
