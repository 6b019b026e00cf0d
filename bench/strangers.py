"""Measure how files of unknown accounts change other people's results, in random worlds.

`python -m bench.strangers` makes worlds of honest files, in which maintainers know a contributor
for every device and model, except for one pair. It adds files from new accounts, with forged or
copied times, or with changed names, builds, dates, model properties, suites or drafts. Ten worlds
with separate models and people form one collection, whose tables are made before and after the
addition. The program prints the number of compared and of changed statements: after one accepted
file in each world, after three, and after one file that the gate refuses but somebody merges
anyway. Cells that have only unknown accounts are counted separately, because every account has
equal weight in them. The exit code is 1 if one accepted file per world changes a statement outside
such cells, or if three files per world change a confirmed verdict.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple, Self

import msgspec

from estimates.flags import in_order
from estimates.identity import canonical_name
from estimates.model import Summary
from estimates.summary import summarize
from estimates.verdicts import after_flags
from pipeline.collection.plausibility import flags_within
from pipeline.collection.plausibility.corpus import Corpus, CorpusEntry
from pipeline.collection.weight_names import names_of, renamed, renamed_text
from pipeline.data.load import AcceptedSubmission, load
from pipeline.intake.conflicts import NAMED_OTHERWISE, Withdrawals, claim_findings
from pipeline.site.pages import strips
from schemas import contract
from schemas.submission import Origin, Submission, Trial
from tests.pipeline.tables import Tables, entry_on
from tests.samples import SampleCosts, sample, sample_bytes

PEOPLE = ("ada", "bob", "cyd", "dan", "fay", "gus")
WIDE_B = "\N{FULLWIDTH LATIN CAPITAL LETTER B}"
STRANGERS = ("eve", "mal", "zed")
CARDS = {"NVIDIA GeForce RTX 4060": 8188, "NVIDIA GeForce RTX 4090": 24564}
PARAMETERS = (7_000_000_000, 13_000_000_000)
Attack = Callable[[Submission, Submission, random.Random], Submission]
State = Mapping[tuple[str, ...], object]
TOGETHER = 10  # worlds in one collection
TIMES = ("decode_ms", "draft_ms", "verify_ms", "wall_ms", "prompt_ms")
QUERIES = {
    "standing": "select submission, standing from standing",
    "name": "select submission, target_label || ' ' || quantisation || device_label from setup",
    "arm": "select submission || arm || task, verdict from evidence",
    "sign": "select cell, concat_ws('|', mark, speedup, interval_low, interval_high) from cell"
    " where backing = 0",
    "confirmed": "select cell, verdict from cell where confirmed",
    "unknown": "select cell, verdict from cell where backing > 0",
    "headline": "select place || scope, candidate || verdict || interval_low from best"
    " where backing = 0 and place in ('device', 'target', 'overall', 'device-task', 'strip')",
    "page": "select cell, concat_ws('|', submission, measured_with) from explore where backing = 0",
    "facts of targets": "select target, concat_ws('|', target_label, parameters, size_class,"
    " architecture, layers, repository, target_family) from target"
    " where target in (select target from evidence where known)",
    "facts of devices": "select device, concat_ws('|', device_label, device_name, vram_gib)"
    " from device where device in (select device from evidence where known)",
}
KINDS = ("standing", "name", "arm", "sign", "confirmed", "headline", "page", "facts", "unknown")


def measured(rng: random.Random, person: str, card: str, parameters: int) -> Submission:
    """An honest measurement of a model on a card; the card decides whether drafting gains."""
    width_ms = rng.uniform(0.98, 1.02) * (2.0 if CARDS[card] > 9000 else 14.0)
    return sample.__wrapped__(
        seed=rng.randrange(2**31), gpu=card, vram_mib=CARDS[card], parameters=parameters,
        tasks=("code", "math"), costs=SampleCosts(extra_width_ms=width_ms), contributor=person,
        day=f"2026-11-{rng.randrange(1, 26):02}",
    )  # fmt: skip


class World(NamedTuple):
    """Honest files: one to three known people per card and model, sometimes with an unknown one.

    A further model has only an unknown person. `strangers` are the accounts that will add files.
    """

    known: tuple[str, ...]
    there: list[Submission]
    strangers: tuple[str, ...]

    @classmethod
    def of(cls, rng: random.Random, number: int) -> Self:
        """Draw a world; its people and models are unique to `number`."""
        people = [f"{name}{number}" for name in PEOPLE]
        known = tuple(sorted(rng.sample(people, 4)))
        others = [each for each in people if each not in known]
        sizes = [size + number * 1_000_000 for size in PARAMETERS]
        made = []
        for card in CARDS:
            for parameters in sizes[: rng.choice((1, 2))]:
                there = {
                    *rng.sample(known, rng.choice((1, 2, 3))),
                    *rng.sample(others, rng.choice((0, 1))),
                }
                made += [measured(rng, person, card, parameters) for person in sorted(there)]
        alone = 3_000_000_000 + number * 1_000_000
        made.append(measured(rng, rng.choice(others), "NVIDIA GeForce RTX 4060", alone))
        return cls(known, made, tuple(f"{name}{number}" for name in STRANGERS))


def scaled(own: Submission, *, arms: float = 1.0, plain: float = 1.0) -> Submission:
    """Multiply the arms' times by one factor and the baseline's times by a different factor."""

    def one(trial: Trial) -> Trial:
        by = plain if trial.arm == "baseline" else arms
        times = {name: by * getattr(trial, name) for name in TIMES if getattr(trial, name)}
        medians = tuple(by * each for each in trial.round_ms_median or ())
        return replace(trial, **times, round_ms_median=medians)

    return replace(own, trials=tuple(map(one, own.trials)))


def _retimed(own: Submission, other: Submission, factor: float) -> Submission:
    """Replace the trials with those in a different file, all times multiplied by a factor."""
    theirs = {(each.arm, each.prompt, each.block): each for each in other.trials}
    trials = (replace(theirs[t.arm, t.prompt, t.block], order=t.order) for t in own.trials)
    return scaled(replace(own, trials=tuple(trials)), arms=factor, plain=factor)


def _listing(own: Submission, other: Submission, _: random.Random) -> Submission:
    """Add drafts that have the digest of the other file's target under a different name."""
    named = replace(other.target, name=other.target.name.replace("Sample", "Trash"))
    drafts = (replace(named, id=f"trash-{at}") for at in range(7))
    return replace(own, drafts=(*own.drafts, *drafts))


def _answering(own: Submission) -> Submission:
    """Replace the answers to all prompts with different ones."""
    said = (
        replace(each, output_sha256=sha256(each.prompt.encode()).hexdigest()[:16])
        for each in own.trials
    )
    return replace(own, trials=tuple(said))


ATTACKS: Mapping[str, Attack] = {
    "nothing forged": lambda own, _, __: own,
    "arms faster": lambda own, _, rng: scaled(own, arms=1 / rng.uniform(1.1, 2.5)),
    "arms slower": lambda own, _, rng: scaled(own, arms=rng.uniform(1.1, 4)),
    "baseline slower": lambda own, _, rng: scaled(own, plain=rng.uniform(1.1, 2)),
    "another build": lambda own, _, rng: scaled(
        replace(own, engine=replace(own.engine, version="0.9.9")), arms=rng.uniform(0.4, 2)
    ),
    "a copy": lambda own, other, _: _retimed(own, other, 1.0),
    "a copy times a factor": lambda own, other, rng: _retimed(own, other, rng.uniform(0.9, 1.1)),
    "other layers": lambda own, _, __: replace(own, target=replace(own.target, layers=31)),
    "other weights": lambda own, _, __: replace(own, target=replace(own.target, sha256="ef" * 32)),
    "another name": lambda own, _, __: replace(
        own, target=replace(own.target, name=own.target.name.replace("Sample", "Best"))
    ),
    "another quantisation": lambda own, _, __: replace(
        own, target=replace(own.target, quantisation="Q4_0")
    ),
    "drafts of that digest": _listing,
    "other answers": lambda own, _, __: _answering(own),
    "a newer suite": lambda own, _, __: replace(own, suite=replace(own.suite, version="9.0.0")),
    "a look-alike": lambda own, _, __: replace(
        own, target=replace(own.target, name=f"{own.target.name[:-1]}{WIDE_B}", sha256="ef" * 32)
    ),
    "another engine": lambda own, _, __: scaled(
        replace(own, engine=replace(own.engine, runner="openai", name="vLLM")), plain=0.5
    ),
    "another spelling": lambda own, _, __: replace(
        own, target=replace(own.target, name=own.target.name.upper(), sha256="ef" * 32)
    ),
    "other facts": lambda own, _, __: replace(
        own,
        target=replace(
            own.target, repository="eve/best", parameters=10**9 + (own.target.parameters or 0)
        ),
    ),
    "a card in small letters": lambda own, _, __: replace(
        own,
        machine=replace(
            own.machine, gpus=tuple(replace(g, name=g.name.lower()) for g in own.machine.gpus)
        ),
    ),
    "a command": lambda own, _, __: replace(
        own, settings=replace(own.settings, server_arguments=("--no-mmap",))
    ),
    "an import": lambda own, _, __: replace(
        own, tier="imported", origin=Origin(format="inventivehq", sha256="0" * 64)
    ),
}  # fmt: skip


def forged(rng: random.Random, there: Sequence[Submission], person: str) -> tuple[str, Submission]:
    """Forge an unknown account's file in an honest file's setting; return attack and file."""
    other = rng.choice(there)
    card, day = other.machine.gpus[0].name, rng.choice(("2026-10-01", "2026-11-26"))
    own = measured(rng, person, card, other.target.parameters or 0)
    machine = replace(own.machine, ram_mib=rng.choice((16384, 32768, 65536)))
    name = rng.choice([*ATTACKS])
    made = ATTACKS[name](replace(own, machine=machine), other, rng)
    dates = {"measured_from": f"{day}T09:00:00Z", "measured_until": f"{day}T10:00:00Z"}
    return name, replace(made, contributor=rng.choice((person, person, None)), **dates)


def refused(new: Submission, there: Sequence[Submission], known: Collection[str]) -> bool:
    """Check whether the gate refuses a file, given the existing files."""
    if not isinstance(contract.read(sample_bytes(new)), Submission):
        return True
    listed = ((str(at), each) for at, each in enumerate(there))
    found = claim_findings({"new": new}, listed, Withdrawals(known=frozenset(known)))
    return any(each.rule != NAMED_OTHERWISE for each in found)


class Prepared(NamedTuple):
    """A file's bytes, corpus entry and summary, computed once per world."""

    data: bytes
    entry: CorpusEntry
    summary: Summary

    @classmethod
    def of(cls, stated: Submission) -> Self:
        return cls(sample_bytes(stated), CorpusEntry.of(stated), summarize(stated))


def tables(files: Sequence[Prepared], known: Collection[str]) -> Tables:
    """The pipeline's tables for these files, with names and flags judged over all of them."""
    names = names_of([each.entry.submission for each in files], known)
    entries = tuple(renamed(each.entry, names) for each in files)
    rows = []
    flagged = flags_within(Corpus(entries, frozenset(known)))
    for (data, stated, summary), entry, raised in zip(files, entries, flagged, strict=True):
        flags = in_order((*summary.flags, *raised))
        estimates = after_flags(summary.estimates, flags, entry.submission.arms)
        name = canonical_name(stated.submission, data)
        rows.append(
            AcceptedSubmission(
                submission=name.removesuffix(".json"),
                file=name,
                preview=False,
                document=renamed_text(data.decode(), entry.submission),
                identity=msgspec.json.encode(entry.identity),
                summary=msgspec.json.encode(replace(summary, flags=flags, estimates=estimates)),
            )
        )
    return Tables(load(rows, (), [entry_on(each) for each in known], optimised=False))


def state(of: Tables) -> State:
    """Published statements on results, cells, models, devices and headlines, by kind and key."""
    found = {
        (kind.partition(" ")[0], *map(str, key)): value
        for kind, query in QUERIES.items()
        for *key, value in of.execute(query).fetchall()
    }
    rows = strips.ranked(strips.main_rows(of))  # type: ignore[arg-type]
    first = strips.strip(rows[0])
    shown = first.figure, first.words, first.setting
    return found | {("headline", "first row"): shown}


def changed(before: State, after: State) -> Counter[str]:
    """Count, per kind, the statements about other people that have changed."""
    return Counter(key[0] for key, value in before.items() if after.get(key) != value)


def collections(
    count: int, first: int = 0, together: int = TOGETHER
) -> Iterator[Mapping[str, tuple[list[str], State, Counter[str]]]]:
    """Yield, per collection and group of added files: attacks, state before, number of changes."""
    for seed in range(first, first + count, together):
        rng = random.Random(seed)  # noqa: S311 - a simulation
        all_worlds = [
            World.of(rng, number) for number in range(min(together, first + count - seed))
        ]
        known = [name for world in all_worlds for name in world.known]
        there = [each for world in all_worlds for each in world.there]
        prepared = [*map(Prepared.of, there)]
        before = state(tables(prepared, known))
        found: dict[str, list[tuple[str, Submission]]] = {"accepted": [], "three": [], "merged": []}
        for world in all_worlds:
            for person in world.strangers:
                new = forged(rng, world.there, person)
                while refused(new[1], there, known):
                    found["merged"] += [new] if person == world.strangers[0] else []
                    new = forged(rng, world.there, person)
                found["accepted"] += [new] if person == world.strangers[0] else []
                found["three"].append(new)
        yield {
            who: (
                [name for name, _ in new],
                before,
                changed(
                    before,
                    state(tables([*prepared, *(Prepared.of(each) for _, each in new)], known)),
                ),
            )
            for who, new in found.items()
        }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="seed of the first collection")
    chosen = parser.parse_args(arguments)
    files, compared, lost = Counter[str](), Counter[str](), Counter[str]()
    tried = Counter[str]()
    for found in collections(chosen.worlds, chosen.first):
        for who, (names, before, change) in found.items():
            files[who] += len(names)
            tried.update(f"{who} {name}" for name in names)
            compared.update(f"{who} {key[0]}" for key in before)
            lost.update({f"{who} {kind}": count for kind, count in change.items()})
    sys.stdout.write(f"{chosen.worlds} worlds\n")
    for who, count in files.items():
        sys.stdout.write(f"{who}: {count} files\n")
        for kind in KINDS:
            key = f"{who} {kind}"
            sys.stdout.write(f"  {kind:12}{lost[key]:>8} of {compared[key]:>8} changed\n")
    for name, count in sorted(tried.items()):
        sys.stdout.write(f"  {name}: {count} files\n")
    wrong = [lost[f"accepted {kind}"] for kind in KINDS[:-1]]
    return 1 if any(wrong) or lost["three confirmed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
