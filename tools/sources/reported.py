"""Figures that people posted in public (`reported.json`), one file per source.

Only figures are taken: two rates or a ratio with its setting, person, place and date. Entries with
a guessed card or model, contradictory rates or a repeated figure are left out. From a source
without a licence, except Spec-Bench, at most 25 rows are taken. `reported.toml` maps people's
wording to our names.

    python -m tools.sources.reported path/to/folder-of-reported.json
"""

import math
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from answers.model_names import model_key
from tools.sources import transcription
from tools.sources.transcription import Json, document, figure, stated

DIGEST = "a33a2783dc6f38f82be8e4df814bacaf0c58d0dcb798a79f7feb228526c2adf7"
DAY = "2026-11-26"
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
    """One numbered entry of `reported.json`, with properties that interpret its words."""

    number: int
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
            return f"https://github.com/{thread[1].removeprefix('github.com/')}/issues/{thread[2]}"
        if found := re.search(r"(?:reddit )?r/(\w+) (\w{7})\b", given):
            return f"https://www.reddit.com/r/{found[1]}/comments/{found[2]}"
        found = WEB_ADDRESS.match(given)
        return f"https://{found[1]}" if found and "..." not in given else None

    @cached_property
    def contributor(self) -> str | None:
        person = self.entry["person"] or ""
        named = WORDS["people"].get(person, person)
        return None if re.search(WORDS["people"]["unnamed"], named) else named or None

    @cached_property
    def method(self) -> tuple[str, str | None]:
        """The method's id in the vocabulary, and its name if the vocabulary lacks it."""
        word = self.entry["method"].partition(" ")[0]
        draft = f"{self.entry['draft_name'] or ''} {self.said}"
        for name in ("DSpark", "DFlash2", "PARD"):
            if name in draft:
                return name.lower(), None
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
        own = rates if all(rates) else (self.person, self.speedup, self.depth, self.task)
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
    names = (entry["card"] or "?", entry["model"])
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


def sorted_out(
    entries: Sequence[Json],
) -> tuple[dict[str, list[Reported]], Counter[tuple[str, str]]]:
    """Return the rows of each source in order, and counts of omitted rows by source and reason."""
    kept: dict[str, list[Reported]] = defaultdict(list)
    out: Counter[tuple[str, str]] = Counter()
    seen: set[tuple[object, ...]] = set()
    rows = [Reported(number=number, entry=entry) for number, entry in enumerate(entries)]
    # If a figure is repeated, the first-hand entry is kept.
    for row in sorted(rows, key=lambda row: "second-hand" in matching("doubts", row.said)):
        reason = reason_out(row)
        if reason is None and row.key in seen:
            reason = "a figure that stands twice"
        if reason is None:
            seen.add(row.key)
            kept[row.source].append(row)
        else:
            out[row.source, reason] += 1
    return {name: sorted(own, key=lambda row: row.number) for name, own in kept.items()}, out


def quoted(rows: Sequence[Reported]) -> list[Reported]:
    """All rows of a licensed source or Spec-Bench; at most 25 rows of any other source.

    From a longer list, each setting is taken once, kinds alternate, and losses keep their share.
    """
    source = rows[0].source
    if len(rows) <= MOST or source == SPEC_BENCH or source in WORDS["licences"]:
        return list(rows)
    first = list({row.setting: row for row in reversed(rows)}.values())[::-1]
    losses = [row for row in first if row.speedup < 1]
    share = math.ceil(MOST * len(losses) / len(first))
    gains = [row for row in first if row.speedup >= 1]
    taken = _in_turns(losses)[:share] + _in_turns(gains)[: MOST - share]
    return sorted(taken, key=lambda row: row.number)


def _in_turns(rows: Sequence[Reported]) -> list[Reported]:
    """Interleave: the first row of every card, model and method, then the second, and so on."""
    counts: Counter[object] = Counter()
    placed = []
    whole = (None, "mixed")  # rows over all tasks come first
    for row in sorted(rows, key=lambda row: (row.task not in whole, row.number)):
        kind = (row.card, row.entry["model"], row.method)
        placed.append((counts[kind], row.number, row))
        counts[kind] += 1
    return [row for _, _, row in sorted(placed, key=lambda each: each[:2])]


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
    method = row.entry["method"]
    inline = method.partition(" ")[2] if method.startswith("draft-model ") else ""
    name = row.draft_name or inline or row.method[1]
    return name and WORDS["drafts"].get(name, name)


def _engine(row: Reported) -> Json | None:
    written: str = WORDS["engines"].get(str(row.engine), row.engine)
    if not written:
        return None
    known = ENGINE.match(written)
    return stated(
        name=known[1] if known else re.sub(r" \(.*", "", written),
        version=row.build or (known and known[2]),
        backend=WORDS["backends"].get((row.backend or "").lower()),
    )


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
        temperature=0 if "T 0" in (row.task or "") else row.temperature,
        concurrency=row.concurrency,
        prompt_tokens=row.prompt_tokens,
        thinking=_thinking(row.said),
        offload=None if row.offload == "none" else row.offload,
    )


def _doubts(row: Reported) -> list[str]:
    found = set(matching("doubts", row.said))
    if row.person in WORDS["authors"]["names"]:
        found.add("by-authors")
    if re.match(r"(HF )?transformers|EAGLE", str(row.engine), re.IGNORECASE):
        found.add("research-code")
    if "digest" in row.entry["source"] or "via ai-maestro" in (row.person or ""):
        found.add("second-hand")
    return [name for name in WORDS["doubts"] if name in found]


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
        and stated(name=draft, quantisation=row.draft_quant, parameters_b=row.draft_params_b),
        method=method,
        n_max=row.depth,
        p_min=row.p_min,
        doubts=_doubts(row),
        baseline_row=base and base["id"],
        also_differs=matching("differs", row.said),
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


def source_of(name: str, rows: Sequence[Reported], left_out: list[str]) -> Json:
    people = {row.contributor for row in rows}
    licence = dict(WORDS["licences"].get(name, {}))
    (author,) = people if len(people) == 1 else (f"the people in {name}",)
    addresses = Counter(row.address for row in rows)
    repository = f"https://github.com/{name}" if REPOSITORY.fullmatch(name) else None
    ((usual, _),) = addresses.most_common(1)
    return stated(
        id=_slug(name),
        title=name,
        url=usual if len(addresses) == 1 or not repository else repository,
        author=author,
        left_out=[*licence.pop("left_out", ()), *left_out],
        **licence,
        note="Single figures, cited as facts from a collection that was read in November 2026.",
    )


def transcribe(folder: Path) -> list[Json]:
    """Return a document for each source that has rows."""
    (entries,) = transcription.documents(folder, "reported.json", DIGEST).values()
    kept, out = sorted_out(entries)  # type: ignore[arg-type] # the file is a list
    made = []
    for name, all_rows in sorted(kept.items()):
        rows = quoted(all_rows)
        more = len(all_rows) - len(rows)
        counts = {reason: count for (source, reason), count in out.items() if source == name}
        counts |= {"further rows of the same kinds": more} if more else {}
        left_out = [f"{count}: {reason}." for reason, count in sorted(counts.items())]
        made.append(
            document(
                source=source_of(name, rows, left_out),
                rigs={each["id"]: each for each in map(rig, rows)}.values(),
                rows=rows_of(rows),
                day=DAY,
            )
        )
    return made


if __name__ == "__main__":
    for each in transcribe(Path(sys.argv[1])):
        transcription.write(each)
