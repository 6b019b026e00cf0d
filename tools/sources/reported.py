"""Figures that people posted in public, one file per source and collection.

The second collection (`reported_second.json`) changes no file of the first: further rows of a
source of the first are in a file of their own. Only figures are taken: two rates or a ratio with
its setting, person, place and date. Entries with a guessed card or model, contradictory rates or a
repeated figure are left out. From a source without a licence, except Spec-Bench, at most 25 rows
are taken. `reported.toml` maps people's wording to our names.

    python -m tools.sources.reported path/to/folder-of-reported.json
"""

import json
import math
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from answers.model_names import model_key
from tools.sources import transcription
from tools.sources.transcription import Json, document, figure, stated

# Per collection: the file's digest and the day of its transcription.
COLLECTIONS = {
    "reported.json": (
        "a33a2783dc6f38f82be8e4df814bacaf0c58d0dcb798a79f7feb228526c2adf7",
        "2026-11-26",
    ),
    "reported_second.json": (
        "5a5b01a623de3bdb3304f04a4ccfcf701eae2944ecb1abc5ba7cd123d4589eba",
        "2026-11-28",
    ),
}
DAYS = [day for _, day in COLLECTIONS.values()]
GOLDEN = (math.sqrt(5) - 1) / 2
MOST = 25  # the maximum number of rows from a long list without a licence
ROUNDING = 0.02
SPEC_BENCH = "hemingkx/Spec-Bench"
# From Spec-Bench, one row per method and task is taken, for the target and card of its first table.
USUAL = {"card": "RTX 3090", "model": "Vicuna-7B-v1.3"}
HARNESS = "transformers (Spec-Bench harness)"
UNUSUAL = re.compile(r"question answering|retrieval-augmented")
WORDS: Json = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
THREAD = re.compile(r"([\w.-]{1,39}/[\w.-]{1,100})#(\d+)")
REPOSITORY = re.compile(r"([\w.-]+/[\w.-]+)(?: |$)")
# An engine and its version, without the backend.
ENGINE = re.compile(
    r"(\w*llama\.cpp(?: fork)?|vLLM|SGLang(?: fork)?|oMLX)(?:.*?\b(b\d+|\d+\.[\d.]+))?"
)
WEB_ADDRESS = re.compile(r"(?:https://)?((?:[\w-]+\.)+[a-z]{2,}(?:/[\w.~/#=-]*)?)")


def matching(kind: str, words: str) -> list[str]:
    """The names in a table of `reported.toml` whose patterns match the words."""
    return [name for name, part in WORDS[kind].items() if re.search(part, words)]


@dataclass(frozen=True, slots=False, kw_only=True)
class Reported:
    """One numbered entry, with properties that interpret its words; collections are numbered on."""

    number: int
    collection: int
    entry: Json

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - a field of the entry
        return self.entry[name]

    @cached_property
    def said(self) -> str:
        return self.entry["note"] or ""

    @cached_property
    def source(self) -> str:
        """The name of the entry's source: a thread, a repository or a page."""
        name: str = WORDS["same"].get(self.entry["source"], self.entry["source"])
        if thread := THREAD.search(name):
            return thread[0]
        repository = REPOSITORY.match(name)
        is_page = name.startswith(("r/", "dev.to/", "huggingface/"))
        return repository[1] if repository and not is_page else name

    @cached_property
    def address(self) -> str | None:
        """The web address of the entry or of its thread; `None` if it has neither."""
        given = self.entry["url_or_thread"] or ""
        if thread := THREAD.search(given) or THREAD.search(self.source):
            where = f"https://github.com/{thread[1].removeprefix('github.com/')}/issues/{thread[2]}"
            return given if self.collection and given.startswith("https://") else where
        if found := re.search(
            r"(?:reddit )?r/(\w+) (\w{7})\b", given or (self.source if self.collection else "")
        ):
            return f"https://www.reddit.com/r/{found[1]}/comments/{found[2]}"
        found = WEB_ADDRESS.match(given)
        return f"https://{found[1]}" if found and "..." not in given else None

    @cached_property
    def contributor(self) -> str | None:
        person = self.entry["person"] or WORDS["writers"].get(self.source, "")
        named = WORDS["people"].get(person, person)
        return None if re.search(WORDS["people"]["unnamed"], named) else named or None

    @cached_property
    def method(self) -> tuple[str, str | None]:
        """The method's id in the vocabulary, and its name if the vocabulary lacks it."""
        word = self.entry["method"].partition(" ")[0]
        draft = f"{self.entry['draft_name'] or ''} {self.said}"
        for name in ("DSpark", "DFlash2", "PARD"):
            if name.lower() in f"{draft} {self.entry['source'] if word == 'other' else ''}".lower():
                return name.lower(), None
        if word == "other" and "-it-assistant" in draft:
            return "mtp", None
        if word == "ngram":
            kind = re.search(r"ngram-(?:simple|mod|cache|map-k4v|map-k)", self.said)
            return (kind[0], None) if kind else ("other", "N-gram lookup")
        if word in {"eagle", "medusa", "other"} or "SAM-Decoding" in draft:
            return "other", matching("others", f"{draft} {word}")[0]
        return word, None

    @cached_property
    def key(self) -> tuple[object, ...]:
        """A key that is equal for two entries about the same measurement."""
        rates = (self.baseline_tps, self.spec_tps)
        own = (
            rates
            if all(rates)
            else (self.person, self.speedup, self.depth, self.task, self.temperature)
        )
        gpu = WORDS["cards"][self.card].get("gpu")
        return gpu, model_key(self.entry["model"]), self.method, self.concurrency, *own

    @cached_property
    def setting(self) -> tuple[object, ...]:
        """A key that differs between rows of one source with different settings."""
        return (
            *(self.person, self.card, self.n_cards, self.entry["model"], self.quant),
            *(self.engine, self.method, self.depth, self.draft_name, self.task, self.concurrency),
            *(bool(self.temperature), self.offload, self.prompt_tokens, _thinking(self.said)),
        )


def _thinking(said: str) -> bool | None:
    found = re.search(r"thinking (on|off)", said)
    return None if found is None else found[1] == "on"


def reason_out(row: Reported) -> str | None:
    """The reason to leave an entry out; `None` if it is kept."""
    entry = row.entry
    rates = (entry["baseline_tps"], entry["spec_tps"])
    guess = re.compile(WORDS["guess"])
    names = (entry["card"] or "?", WORDS["models"].get(entry["model"], entry["model"]))
    if any(map(guess.search, names)) or entry["card"] not in WORDS["cards"]:
        return "a card or a model that is a guess"
    if all(rates) and abs(rates[1] / rates[0] / entry["speedup"] - 1) > ROUNDING:
        return "a ratio that its own rates contradict"
    if row.number in WORDS["doubled"]["rows"]:
        return "a figure that stands twice"
    spec_bench = row.source == SPEC_BENCH
    usual = all(entry[name] == word for name, word in (USUAL | {"engine": HARNESS}).items())
    if spec_bench and (not usual or UNUSUAL.search(row.said)):
        return "other targets, cards and tasks"
    if row.method[0] in {"draft-model", "pard"} and not _draft(row):
        return "a draft model that is not named"
    return next(iter(matching("out", row.said)), None)


Part: TypeAlias = tuple[str, int]  # a source, and the collection that has the rows


def sorted_out(
    rows: Sequence[Reported],
) -> tuple[dict[Part, list[Reported]], Counter[tuple[Part, str]]]:
    """Return the rows of each part in order, and counts of omitted rows by part and reason."""
    kept: dict[Part, list[Reported]] = defaultdict(list)
    out: Counter[tuple[Part, str]] = Counter()
    seen: set[tuple[object, ...]] = set()
    # If a figure is repeated, the first-hand entry of the first collection is kept.
    for row in sorted(rows, key=lambda row: (row.collection, "second-hand" in _doubts(row))):
        reason = reason_out(row)
        if reason is None and row.key in seen:
            reason = "a figure that stands twice"
        if reason is None:
            seen.add(row.key)
            kept[row.source, row.collection].append(row)
        else:
            out[(row.source, row.collection), reason] += 1
    return {name: sorted(own, key=lambda row: row.number) for name, own in kept.items()}, out


def quoted(rows: Sequence[Reported], most: int) -> list[Reported]:
    """All rows of a licensed source or Spec-Bench; at most so many rows of any other source.

    From a longer list, each setting is taken once, kinds alternate, and losses keep their share.
    """
    source = rows[0].source
    if len(rows) <= most or source == SPEC_BENCH or source in WORDS["licences"]:
        return list(rows)
    reverse = list(reversed(rows))
    worst_first = sorted(reverse, key=lambda row: -len(_doubts(row)) * row.collection)
    first = list({row.setting: row for row in worst_first}.values())[::-1]
    losses = [row for row in first if row.speedup < 1]
    share = math.ceil(most * len(losses) / len(first))
    gains = [row for row in first if row.speedup >= 1]
    taken = _in_turns(losses)[:share] + _in_turns(gains)[: most - share]
    return sorted(taken, key=lambda row: row.number)


def _in_turns(rows: Sequence[Reported]) -> list[Reported]:
    """Interleave: the first row of every card, model and method, then the second, and so on."""
    counts: Counter[object] = Counter()
    placed = []
    whole = (None, "mixed")  # rows over all tasks come first
    for row in sorted(rows, key=lambda row: (row.task not in whole, _spread(row))):
        kind = (row.card, row.entry["model"], row.method, row.task if row.collection else None)
        placed.append((counts[kind], row.number, row))
        counts[kind] += 1
    return [row for _, _, row in sorted(placed, key=lambda each: each[:2])]


def _spread(row: Reported) -> float:
    """Order the rows of the second collection so that the first few are of several depths."""
    return row.number * GOLDEN % 1 if row.collection else row.number


def rig(row: Reported) -> Json:
    card = WORDS["cards"][row.card]
    count = card.get("count") or row.n_cards or 1
    gpu, memory = card.get("gpu"), card.get("gb")
    found = stated(
        device="gpu" if gpu else "cpu-only",
        gpu=gpu and (f"{count} \N{MULTIPLICATION SIGN} {gpu}" if count > 1 else gpu),
        gpu_vram_mib=memory and memory * count * 1024,
        gpu_power_limit_w=card.get("watts"),
        unified_memory=card.get("shared"),
        cpu=card.get("cpu"),
        ram_gib=card.get("ram") or (row.vram_gb if card.get("shared") and count == 1 else None),
    )
    return {
        "id": _slug(" ".join(str(each) for each in found.values() if each is not True)),
        **found,
    }


def _slug(words: str) -> str:
    return "-".join(
        re.findall(r"[a-z0-9]+", words.replace("\N{MULTIPLICATION SIGN}", "x").lower())
    )[:64].strip("-")


def _draft(row: Reported) -> str | None:
    """The draft's name as we spell it: the stated name, else the name in the method's text."""
    name = row.draft_name or _inline_draft(row)[0] or row.method[1]
    return name and WORDS["drafts"].get(name, name)


def _inline_draft(row: Reported) -> tuple[str, str | None]:
    """The draft's name and quantisation, if they follow the name of the method."""
    method, _, words = row.entry["method"].partition(" ")
    if not row.collection:
        return (words if method == "draft-model" else ""), None
    name, _, quantisation = words.rpartition(" ")
    return name, quantisation or None


def _engine(row: Reported) -> Json | None:
    if row.engine in WORDS["builds"]:
        return stated(**({"version": row.build} | WORDS["builds"][row.engine]))
    written: str = WORDS["engines"].get(str(row.engine), row.engine)
    if not written:
        return None
    known = ENGINE.match(written)
    return stated(
        name=known[1] if known else re.sub(r" \(.*", "", written),
        version=row.build or (known and known[2]),
        backend=WORDS["backends"].get((row.backend or _named_backend(row)).lower()),
    )


def _named_backend(row: Reported) -> str:
    found = re.search(r"Vulkan|CUDA|Metal|ROCm|HIP", row.engine or "") if row.collection else None
    return found[0] if found else ""


def _target(row: Reported) -> Json:
    name = row.entry["model"]
    weights = row.quant or ""
    return stated(
        name=WORDS["models"].get(name, name),
        architecture="moe" if row.active_b else None,
        quantisation=WORDS["quantisations"].get(weights, weights)[:40],
        parameters_b=row.params_b,
        active_parameters_b=row.active_b,
    )


def _settings(row: Reported) -> Json:
    return stated(
        context_tokens=row.context,
        temperature=_temperature(row),
        concurrency=row.concurrency,
        prompt_tokens=row.prompt_tokens,
        thinking=_thinking(row.said),
        offload=_offload(row),
    )


def _temperature(row: Reported) -> float | None:
    found = re.search(r"(?:\bT|temperature) ([\d.]+)", row.task or "")
    value: float | None = row.temperature
    return json.loads(found[1]) if found else value


def _offload(row: Reported) -> str | None:
    """The parts in main memory; a draft on a second card is not there."""
    words = row.offload or WORDS["cards"][row.card].get("offload")
    if (
        words is None
        and row.collection
        and "draft on CPU" in row.said
        and row.backend != "OpenVINO"
    ):
        return "draft on CPU"
    return None if words and re.match(r"none$|draft o(n|ffload on) ", words) else words


def _doubts(row: Reported) -> list[str]:
    found = set(matching("doubts", row.said))
    if row.person in WORDS["authors"]["names"]:
        found.add("by-authors")
    if re.match(r"(HF )?transformers|EAGLE", str(row.engine), re.IGNORECASE):
        found.add("research-code")
    if re.search(r"digest|aiweekly|quoting|glukhov", row.entry["source"]) or "via ai-" in str(
        row.person
    ):
        found.add("second-hand")
    return [name for name in WORDS["doubts"] if name in found]


def _p_min(row: Reported) -> float | None:
    found = re.search(r"p-min ([\d.]+)", row.task or "") if row.collection else None
    return float(found[1]) if found else None


def _figures(row: Reported) -> Iterator[Json]:
    if row.spec_tps:
        yield figure("decode_tps", row.spec_tps)
    if not (row.spec_tps and row.baseline_tps):
        yield figure("speedup", row.speedup)
    if row.acceptance is not None and "middle taken" not in row.said:
        yield figure("acceptance_rate", row.acceptance)
    if row.tokens_per_round is not None and row.source != SPEC_BENCH:  # Spec-Bench's is an average
        yield figure("tokens_per_round", row.tokens_per_round)


def pair(row: Reported) -> tuple[Json | None, Json]:
    """Return the baseline (`None` if a rate is not stated) and the row with speculation."""
    shared = {"rig": rig(row)["id"], "engine": _engine(row), "target": _target(row)}
    method, named = row.method
    task = next((word for part, word in WORDS["tasks"].items() if part in (row.task or "")), None)
    where = {
        "contributor": row.contributor,
        "date": row.date if len(row.date or "") > len("2026") else None,
        "url": row.address,
        "task": task,
        "settings": _settings(row),
    }
    base = None
    if row.baseline_tps and row.spec_tps:
        base = stated(
            id=f"n{row.number}-base",
            place=row.entry["source"],
            kind="baseline",
            **(shared | where),
            method="none",
            figures=[figure("decode_tps", row.baseline_tps)],
        )
    draft = _draft(row)
    spec = stated(
        id=f"n{row.number}",
        place=row.entry["source"],
        kind="speculation",
        **(shared | where),
        draft=draft
        and stated(
            name=draft,
            quantisation=row.draft_quant or _inline_draft(row)[1],
            parameters_b=row.draft_params_b,
        ),
        method=method,
        n_max=row.depth,
        p_min=row.p_min if row.p_min is not None else _p_min(row),
        doubts=_doubts(row),
        baseline_row=base and base["id"],
        also_differs=matching(
            "differs",
            f"{row.said} {row.offload} {row.engine} {row.quant}" if row.collection else row.said,
        ),
        figures=list(_figures(row)),
        note=". ".join(filter(None, (named, row.said))) + "." if named or row.said else None,
    )
    return base, spec


def rows_of(rows: Sequence[Reported]) -> list[Json]:
    """Return the rows with each baseline once, before the first row compared with it."""
    found: list[Json] = []
    bases: dict[str, str] = {}
    for base, spec in map(pair, rows):
        if base is not None:
            words = repr({name: value for name, value in base.items() if name != "id"})
            if words not in bases:
                bases[words] = base["id"]
                found.append(base)
            spec["baseline_row"] = bases[words]
        found.append(spec)
    return found


def source_of(part: Part, rows: Sequence[Reported], left_out: list[str], suffix: str) -> Json:
    name, collection = part
    people = {row.contributor for row in rows}
    licence = dict(WORDS["licences"].get(name, {}))
    (author,) = people if len(people) == 1 else (f"the people in {name}",)
    addresses = Counter(row.address for row in rows)
    repository = f"https://github.com/{name}" if REPOSITORY.fullmatch(name) else None
    ((usual, _),) = addresses.most_common(1)
    url = usual if len(addresses) == 1 or not repository else repository
    return stated(
        id=_slug(name) + suffix,
        title=name,
        url=url or (repository if collection else None),
        author=author,
        left_out=[*licence.pop("left_out", ()), *left_out],
        **licence,
        note="Single figures, cited as facts from a collection that was read in November 2026.",
    )


def read(folder: Path) -> list[Reported]:
    """The entries of both collections, numbered on."""
    entries = [
        (collection, entry)
        for collection, (name, (digest, _)) in enumerate(COLLECTIONS.items())
        for held in transcription.documents(folder, name, digest).values()
        for entry in held
    ]
    return [
        Reported(number=number, collection=collection, entry=entry)  # type: ignore[arg-type] # the files are lists
        for number, (collection, entry) in enumerate(entries)
    ]


def transcribe(folder: Path) -> list[Json]:
    """Return a document for each source and collection that has rows."""
    kept, out = sorted_out(read(folder))
    made: dict[Part, Json] = {}
    cited: Counter[str] = Counter()
    for part, all_rows in sorted(kept.items()):
        name, collection = part
        rows = quoted(all_rows, MOST - cited[name])
        if not rows:
            continue  # 25 rows of the source are in its file of the first collection
        cited[name] += len(rows)
        more = len(all_rows) - len(rows)
        counts = {reason: count for (whose, reason), count in out.items() if whose == part}
        counts |= {"further rows of the same kinds": more} if more else {}
        left_out = [f"{count}: {reason}." for reason, count in sorted(counts.items())]
        suffix = "-2" if collection and (name, 0) in made else ""
        made[part] = document(
            source=source_of(part, rows, left_out, suffix),
            rigs={each["id"]: each for each in map(rig, rows)}.values(),
            rows=rows_of(rows),
            day=DAYS[collection],
        )
    return list(made.values())


if __name__ == "__main__":
    for each in transcribe(Path(sys.argv[1])):
        transcription.write(each)
