"""Send random and hostile forms and extreme results, and see what they move.

`python -m bench.forms` draws forms about cards and models of a small collection and about others,
with extreme numbers, odd dates, private data and unusual letters, and results of unknown accounts
whose times, rates or sizes are off by factors of up to 10,000. All forms that the checks accept go
into one build, unchecked, and must change nothing but their own rows. Checked forms and results are
built in groups in which no two have a card or a model in common; a group may move its own pairs,
cards' rates and models' predictions. What differs is halved until it names the file. With
`--whole N`, N drawn forms and the union of all accepted ones are also built as whole sites, whose
links are checked. The exit code is 1 if any of that fails.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.strangers import scaled
from estimates.identity import canonical_name
from pipeline.cache import Cache
from pipeline.collection import validation
from pipeline.collection.discover import Source
from pipeline.data.database import open_database
from pipeline.difference import Own, State, moved_others, with_files
from pipeline.intake.figure_form import published
from pipeline.intake.figures import keys
from pipeline.intake.paths import FOLDER, PUBLISHED
from planner.machines import device_key
from planner.names import read_model
from schemas import contract
from schemas.posted import UnreadableTextError
from schemas.submission import Submission
from tests.pipeline.tables import decide_on
from tests.samples import sample, sample_bytes

ROOT = Path(__file__).resolve().parents[1]
DAY = "2026-11-25"
SMALL = 12  # published files of the small collection
CARDS = (
    *("RTX 3090 24 GB", "RTX 4090 24 GB", "2x RTX 3090 24 GB", "Apple M1 Ultra", "GB10"),
    *("RTX 5090 32 GB", "RTX 4070 Ti 12 GB", "RX 7900 XTX 24 GB", "Tesla V100 32 GB"),
)
MODELS = (
    *("Qwen3.8-27B", "qwen3.8 27b", "Qwen3-8B", "Llama-3.1-8B-Instruct", "Nobody-9B"),
    *("Qwen3.6-35B-A3B", "Gemma 4 12B", "gpt-oss-120b", "GLM-4.5-Air"),
)
METHODS = ("mtp", "dflash", "eagle3", "ngram-mod", "other")
NUMBERS = ("0", "0.01", "0.05", "1", "12", "28.2", "41.5", "600", "4999", "9999999", "nan", "-1")
ODD = ("", "x" * 300, "<b>", "=cmd|' /C calc'!A0", "hf_" + "a1B2" * 9, "ada@example.org", "\ufe0f")
DATES = ("2026-07", "2026-11-25", "2026-02-31", "2028-01", "2099-12", "0000-00", "2024-05-01")
TEXTS = ("who", "quantisation", "engine", "version", "note", "offload", "draft")
GPUS = ("NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 4060")


class Sent(NamedTuple):
    """A file that the checks accept, with the card and the model that it is about."""

    path: str
    data: bytes
    card: str
    model: str


def drawn(rng: random.Random, number: int) -> dict[str, str]:
    """Draw the answers of a form; about half of the forms are plausible."""
    hostile = rng.random() < 0.5
    before = rng.uniform(5, 100)
    answers = {
        "url": f"https://example.org/t/{number}",
        "who": f"person {number % 40}",
        "date": "2026-07",
        "card": rng.choice(CARDS),
        "model": rng.choice(MODELS),
        "method": rng.choice(METHODS),
        "depth": str(rng.choice((1, 2, 3, 7, 1000))),
        "before": f"{before:.2f}",
        "after": f"{before * rng.lognormvariate(0.3, 1.0):.2f}",
        "task": rng.choice(("", "code", "chat")),
        "doubt": rng.choice(("", "", "approximate", "by-authors")),
        "streams": rng.choice(("", "1", "8")),
        "temperature": rng.choice(("", "0", "1")),
    }
    if hostile:
        answers |= {rng.choice(TEXTS): rng.choice(ODD)}
        answers |= {rng.choice(("before", "after", "speedup")): rng.choice((*NUMBERS, "crashed"))}
        answers |= {"date": rng.choice(DATES)} if rng.random() < 0.3 else {}
    if rng.random() < 0.2:
        answers |= {"before": "", "after": "", "speedup": f"{rng.lognormvariate(0.3, 1.0):.2f}"}
    return {name: text for name, text in answers.items() if text}


def extreme(rng: random.Random, number: int) -> Submission:
    """A result of an unknown account, with times, rates or sizes that nobody has."""

    def factor() -> float:
        return float(10 ** rng.uniform(-4, 4))

    made = sample.__wrapped__(
        seed=100 + number, gpu=rng.choice(GPUS), vram_mib=rng.choice((1, 8188, 24564, 10**6)),
        parameters=round(7e9 * factor()), tasks=("code",), prompts_per_task=2,
        contributor=f"eve{number}",
    )  # fmt: skip
    if rng.random() < 0.2:
        return replace(made, target=replace(made.target, name=rng.choice(MODELS)))
    return scaled(made, arms=factor(), plain=rng.choice((1.0, factor())))


def forms(folder: Path, count: int, rng: random.Random) -> Iterator[Sent]:
    """The accepted ones of this number of drawn forms."""
    seen: set[str] = set()
    for number in range(count):
        answers = drawn(rng, number)
        try:
            name, data = published(answers, DAY, reported_by="eve")
        except UnreadableTextError:
            continue
        place = folder / name
        place.write_bytes(data)
        source = Source(path=place, kind="published", place="corpus")
        is_right = isinstance(validation.checked(source), validation.AcceptedText)
        place.unlink()
        if is_right and seen.isdisjoint(own := {*keys(json.loads(data))}):
            seen |= own
            card = device_key(answers["card"].removeprefix("2x "))
            yield Sent(f"{PUBLISHED}/{name}", data, card, read_model(answers["model"]).slug)


def results(count: int, rng: random.Random) -> Iterator[Sent]:
    """The accepted ones of this number of extreme results."""
    for number in range(count):
        made = extreme(rng, number)
        data = sample_bytes(made)
        if isinstance(contract.read(data), Submission):
            path = f"{FOLDER}/{canonical_name(made, data)}"
            yield Sent(path, data, made.machine.gpus[0].name, read_model(made.target.name).slug)


def collection(folder: Path, rng: random.Random) -> None:
    """Some published files, among them about cards and models of forms, and known results."""
    there = sorted((ROOT / PUBLISHED).glob("*.json"))
    rng.shuffle(there)
    there.sort(key=lambda path: not any(each in path.read_text("utf-8") for each in MODELS[:4]))
    for place in (PUBLISHED, FOLDER):
        (folder / place).mkdir(parents=True)
    for path in there[:SMALL]:
        shutil.copy(path, folder / PUBLISHED)
    for number, gpu in enumerate(GPUS):
        own = sample(seed=number, gpu=gpu, vram_mib=24564, tasks=("code",), prompts_per_task=2)
        data = sample_bytes(own)
        (folder / FOLDER / canonical_name(own, data)).write_bytes(data)
    decide_on(folder / "results", "ada")


def groups(sent: Iterable[Sent]) -> list[list[Sent]]:
    """The files in groups in which no two have a card or a model in common."""
    found: list[list[Sent]] = []
    for each in sent:
        free = (
            group
            for group in found
            if all(each.card != other.card and each.model != other.model for other in group)
        )
        group = next(free, None)
        if group is None:
            found.append(group := [])
        group.append(each)
    return found


def faults(
    sent: Sequence[Sent], wrong: Callable[[Sequence[Sent]], list[str]]
) -> Iterator[tuple[Sent, list[str]]]:
    """The files with a fault; what is wrong with several files is looked for in each half."""
    if sent and (found := wrong(sent)):
        if len(sent) == 1:
            yield sent[0], found
        else:
            middle = len(sent) // 2
            yield from faults(sent[:middle], wrong)
            yield from faults(sent[middle:], wrong)


def judged(sent: Sequence[Sent], folder: Path, cache: Cache) -> Iterator[tuple[Sent, list[str]]]:
    """The files with an effect on others, and what they move."""
    before = State.of(open_database(folder / "results", cache=cache))

    def changed(some: Sequence[Sent]) -> list[str]:
        with with_files(folder, {each.path: each.data for each in some}):
            after = State.of(open_database(folder / "results", cache=cache))
        return [] if after == before else ["an unchecked figure moves others"]

    def moved(some: Sequence[Sent]) -> list[str]:
        with with_files(folder, {each.path: checked(each) for each in some}):
            connection = open_database(folder / "results", cache=cache)
        own = Own.of(connection, [Path(each.path).stem for each in some])
        return [*moved_others(before, State.of(connection), own)]

    yield from faults([each for each in sent if each.path.startswith(PUBLISHED)], changed)
    for group in groups(sent):
        yield from faults(group, moved)


def checked(sent: Sent) -> bytes:
    """A file as if a maintainer had checked it, if it is a form's."""
    if not sent.path.startswith(PUBLISHED):
        return sent.data
    return json.dumps(json.loads(sent.data) | {"checked_by": "mae"}).encode()


def builds(some: Sequence[Sent], cache: Path) -> bool:
    """Whether the whole site builds with these forms, checked, and has no broken link."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "results", folder / "results")
        for form in some:
            (folder / form.path).write_bytes(checked(form))
        site = folder / "site"
        where = ("--results", str(folder / "results"), "--output", str(site), "--cache", str(cache))
        for words in (
            ("pipeline", "build", *where),
            ("tools.links", str(site), "tests/data/addresses-of-results.txt"),
            ("tools.evidence", str(site)),
            ("tools.private", str(site)),
        ):
            command = [sys.executable, "-m", *words]
            done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
            if done.returncode:
                sys.stdout.write(f"{' '.join(words[:2])}: {(done.stderr or done.stdout)[-2000:]}\n")
                return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--forms", type=int, default=1000)
    parser.add_argument("--results", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--whole", type=int, default=0, metavar="N")
    chosen = parser.parse_args(arguments)
    rng = random.Random(chosen.seed)  # noqa: S311 - a simulation
    found = Counter[str]()
    with TemporaryDirectory() as name:
        folder = Path(name)
        collection(folder, rng)
        good = [*forms(folder, chosen.forms, rng)]
        sent = [*good, *results(chosen.results, rng)]
        found["forms accepted"], found["results accepted"] = len(good), len(sent) - len(good)
        for file, words in judged(sent, folder, Cache(folder / "cache")):
            found["with an effect on others"] += 1
            sys.stdout.write(f"{file.path}: {'; '.join(words)}\n")
        some = [[form] for form in rng.sample(good, min(chosen.whole, len(good)))]
        for files in [*some, good] if chosen.whole else []:
            done = builds(files, folder / "sites")
            found["whole builds" if done else "failed builds"] += 1
    sys.stdout.write(f"{chosen.forms} forms, {chosen.results} results\n")
    sys.stdout.write("".join(f"{kind}: {number}\n" for kind, number in found.items()))
    return 1 if found["with an effect on others"] or found["failed builds"] else 0


if __name__ == "__main__":
    sys.exit(main())
