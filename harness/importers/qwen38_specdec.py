"""Read the schema `qwen38-specdec/1`: llama-server arms over passes, a record for each answer.

Arms of different builds (`tree`), temperatures or thinking modes are not compared with one
another: each combination is a part with a baseline of its own. Counts are those of llama-server.
"""

import itertools
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.errors import BadInputError
from harness.importers.entries import Entry, document
from harness.importers.model import BASELINE, ArmRead, Format, Given, Part, Reading, Record
from harness.importers.mtp_bench import method_of
from harness.importers.translate import id_of, model_facts, sampling_of
from harness.importers.trials import rounds

_SCHEMA = "qwen38-specdec/1"
_LEFT_OUT = (
    "texts, paths, host names and the state of the GPU",
    "power, temperature and clocks of single answers",
    "where the texts of two arms first differ, which is counted in characters",
)
_FLAGS = {
    "-c": "context", "--ctx-size": "context", "-b": "batch", "--batch-size": "batch",
    "-ub": "micro_batch", "--ubatch-size": "micro_batch", "-t": "threads", "--threads": "threads",
    "-ngl": "gpu_layers", "--n-gpu-layers": "gpu_layers", "--gpu-layers": "gpu_layers",
    "-ctk": "kv_type_k", "--cache-type-k": "kv_type_k",
    "-ctv": "kv_type_v", "--cache-type-v": "kv_type_v",
    "-ncmoe": "cpu_expert_layers", "--n-cpu-moe": "cpu_expert_layers",
    "-sm": "split_mode", "--split-mode": "split_mode",
    "-fa": "flash_attention", "--flash-attn": "flash_attention",
}  # fmt: skip
_SWITCH = {"1": "on", "0": "off", "on": "on", "off": "off", "auto": "auto"}
_COMMIT = re.compile(r"\b[0-9a-f]{7,40}\b")
_BUILD = re.compile(r"\bb([0-9]{3,6})\b")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MIB = re.compile(r"([0-9]+) ?MiB")
_DRIVER = re.compile(r"[0-9]+\.[0-9]+(?:\.[0-9]+)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arm:
    """One arm of the file."""

    name: str
    tree: str
    flags: str
    temperature: float | None

    @property
    def method(self) -> str | None:
        """The method as `--map method=` takes it; `None` is unknown."""
        return method_of(self.flags) if "--spec-type" in self.flags else "none"


_Key = tuple[str, float | None, bool | None]


def read(files: Sequence[Given]) -> Reading:
    """One part for every tree, temperature and thinking mode of every file."""
    left_out = list(_LEFT_OUT)
    parts = [part for file in files for part in _parts(file, left_out)]
    return Reading(parts=tuple(parts), left_out=tuple(left_out))


def _parts(file: Given, left_out: list[str]) -> Iterator[Part]:
    top = Entry.of(file, document(file))
    if top.text("schema") != _SCHEMA:
        top.refuse("schema", _SCHEMA)
    arms = {arm.name: arm for arm in _arms(top)}
    facts, design = _facts(top), top.child("design")
    together: dict[_Key, list[Entry]] = {}
    for row in top.children("records"):
        together.setdefault(_key(row, arms), []).append(row)
    for key, rows in together.items():
        own = {name: arms[name] for name in dict.fromkeys(row.text("arm") or "" for row in rows)}
        plain = [arm.name for arm in own.values() if arm.method == "none"]
        if not plain:
            left_out.append(f"{rows[0].place}: {', '.join(own)}: no baseline at these settings")
            continue
        for name in plain[1:]:
            left_out.append(f"{file.name}: arm {name}: a second one without speculation")
            del own[name]
        yield Part(
            name=_name(key),
            suite="qwen38-specdec",
            facts=facts | _of_key(top, key),
            arms=tuple(
                ArmRead(name=BASELINE if name == plain[0] else name, method=arm.method)
                for name, arm in own.items()
            ),
            records=tuple(_records(rows, own, plain[0])),
            interleaved="block" if design and design.value.get("interleaved") is True else None,
        )


def _arms(top: Entry) -> Iterator[_Arm]:
    arms = top.child("arms")
    if arms is None:
        top.refuse("arms", "the arms by name")
    for name in arms.value:
        arm = arms.child(name)
        if arm is not None:
            yield _Arm(
                name=name,
                tree=arm.text("tree") or "",
                flags=_flags(arm, "extra_args"),
                temperature=arm.number("temperature"),
            )


def _flags(entry: Entry, key: str) -> str:
    """The arguments of llama-server, as a list of words or as one text, as one text."""
    if isinstance(found := entry.value.get(key), list):
        return shlex.join(str(word) for word in found)
    return entry.text(key) or ""


def _key(row: Entry, arms: Mapping[str, _Arm]) -> _Key:
    name = row.text("arm") or ""
    if name not in arms:
        row.refuse("arm", "the name of one of the arms")
    arm, temperature, think = arms[name], row.number("temperature"), row.value.get("think")
    return (
        arm.tree,
        arm.temperature if temperature is None else temperature,
        think if isinstance(think, bool) else None,
    )


def _name(key: _Key) -> str:
    tree, temperature, think = key
    mode = {True: "thinking", False: "direct", None: ""}[think]
    heat = "" if temperature is None else f"t{temperature:g}"
    return id_of("-".join(filter(None, (tree, heat, mode))))


def _records(rows: Sequence[Entry], arms: Mapping[str, _Arm], plain: str) -> Iterator[Record]:
    reference = dict(filter(None, map(_reference, rows)))
    for row in rows:
        name, prompt = row.text("arm") or "", row.text("prompt")
        if prompt is None:
            row.refuse("prompt", "the name of a prompt")
        if name not in arms:
            continue
        timings = row.child("timings") or row
        tokens = row.count("predicted_n")
        drafted, accepted = timings.count("t_draft_n"), timings.count("t_draft_n_accepted")
        if drafted is None and name != plain:
            drafted, accepted = 0, 0  # llama-server then leaves its counters out
        compared = row.child("divergence")
        yield Record(
            arm=BASELINE if name == plain else name,
            prompt=prompt,
            place=row.place,
            category=row.text("class"),
            prompt_tokens=row.count("prompt_tokens"),
            prompt_ms=timings.number("t_prompt_ms"),
            output_tokens=tokens,
            decode_ms=timings.number("t_predicted_ms"),
            per_second=row.number("decode_tok_s"),
            wall_ms=row.number("wall_ms"),
            drafted=drafted,
            accepted=accepted,
            rounds=rounds(tokens, accepted) if name != plain else None,
            finish="length" if row.value.get("hit_cap") is True else "stop",
            energy_j=row.number("decode_energy_j"),
            output_hash=compared.text("sha_arm") if compared else reference.get(_place(row)),
        )


def _place(row: Entry) -> tuple[int | None, str | None]:
    return row.count("pass"), row.text("prompt")


def _reference(row: Entry) -> tuple[tuple[int | None, str | None], str] | None:
    """The hash of the baseline's text, which stands with the arms that were compared with it."""
    compared = row.child("divergence")
    found = compared.text("sha_ref") if compared else None
    return None if found is None else (_place(row), found)


def _facts(top: Entry) -> dict[str, str]:
    env, design = top.child("env"), top.child("design")
    if env is None:
        top.refuse("env", "what it was measured on")
    if design is None:
        top.refuse("design", "how it was measured")
    facts = {"engine": "llama.cpp"} | _gpu(env.text("gpu") or "")
    if any("decode_energy_j" in row.value for row in top.children("records")):
        facts["energy_method"] = "nvml"
    facts |= model_facts(env.text("model") or "")
    if sha := env.text("model_sha256"):
        facts["target_sha256"] = sha.lower()
    if day := _DAY.match(env.text("captured_at") or ""):
        facts["date"] = day[0]
    if limit := design.count("max_tokens"):
        facts["max_output_tokens"] = str(limit)
    return facts | _server(_flags(design, "common_args"))


def _gpu(listed: str) -> dict[str, str]:
    """Name, memory and driver in nvidia-smi's lines, one for each card, in any order of columns."""
    cards = [[field.strip() for field in line.split(",")] for line in listed.strip().splitlines()]
    facts = {"gpu": ", ".join(fields[0] for fields in cards)} if cards and cards[0][0] else {}
    for field in cards[0][1:] if cards else ():
        if memory := _MIB.fullmatch(field):
            facts.setdefault("vram_mib", memory[1])
        elif _DRIVER.fullmatch(field):
            facts.setdefault("gpu_driver", field)
    return facts


def _server(flags: str) -> dict[str, str]:
    """The settings among llama-server's arguments that a result has a place for."""
    try:
        words = shlex.split(flags)
    except ValueError as error:
        message = f"common_args {flags!r} cannot be split into words: {error}"
        raise BadInputError(message) from error
    found = {
        _FLAGS[flag]: value
        for flag, value in itertools.pairwise(words)
        if flag in _FLAGS and not value.startswith("--")
    }
    if "flash_attention" in found:
        found["flash_attention"] = _SWITCH.get(found["flash_attention"], "auto")
    return found


def _of_key(top: Entry, key: _Key) -> dict[str, str]:
    tree, temperature, think = key
    env = top.child("env")
    revisions = env.child("llama_cpp_revisions") if env else None
    revision = (revisions.text(tree) if revisions else None) or ""
    facts: dict[str, str] = {}
    if commit := _COMMIT.search(revision):
        facts["engine_commit"] = commit[0]
    if build := _BUILD.search(revision):
        facts["build"] = build[1]
    if temperature is not None:
        facts |= sampling_of(temperature)
    if think is not None:
        facts["thinking"] = str(think).lower()
    return facts


FORMAT = Format(
    read=read,
    signs=(frozenset({"schema", "arms", "records"}),),
    help="""a file of the schema `qwen38-specdec/1`. Has nearly everything; lacks the
backend. Each tree, temperature and thinking mode becomes a result of its own.

- `--from qwen38-specdec phase_a.json --map backend=cuda`""",
)
