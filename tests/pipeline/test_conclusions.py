"""Whatever people measured and printed, an answer offers and claims no more than that.

Hundreds of random machines go through the tables, the file of the site and its scripts. What must
hold is worked out here from what the machines were given, not from the tables.
"""

import json
import math
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import pytest

from pipeline.site.pages.answer_data import machine_file
from pipeline.site.pages.device_and_model_pages import device_pages, target_pages
from pipeline.site.pages.home import home
from pipeline.site.pages.model import Site
from schemas.vocabulary import as_json, say
from tests import scripts
from tests.pipeline.tables import Example, campaign, database, entry

Answered = list[tuple["TypedMachine", tuple[str, str], dict[str, Any]]]


WORLDS, MACHINES = 5, 40
SIZES = (3, 7, 14, 32)
PEOPLE = ("ada", "bob", "cyd", "dan")
ENGINES = ("llama.cpp", "vLLM", "MLX", "llama.cpp, turboquant fork")
RUNNERS = {"llama-server": "llama.cpp server", "llama-cpp-python": "llama.cpp"}
# The text of an answer is read without a browser: a node is the list of what was appended to it.
DRAWN = """
import { decode, reply, understand } from "./reply.js";
class Node {
  constructor() { Object.assign(this, { children: [], dataset: {} }); }
  append(...children) { this.children.push(...children); }
  setAttribute() {}
  addEventListener() {}
  get text() { return this.children.map((each) => each?.text ?? `${each} `).join(""); }
}
globalThis.document = { createElement: () => new Node(), createElementNS: () => new Node() };
const { draw } = await import("./answer.js");
const answer = ({ file, words, asked }) => {
  const data = { ...decode(file, words), root: "" };
  return asked.map(([card, model]) => {
    const found = reply(data, understand(data, { card, model }));
    const { commands, question, shown } = found;
    return {
      commands, shown, found: found.found, memory: question.memory, text: draw(data, found).text,
    };
  });
};
"""
PRINTED = """
    insert into published_rate by name
    select
      'articles' as source, $row as row_id, $row as place, 'published' as tier, $device as device,
      $label as device_label, 'gpu' as device_kind, $memory as vram_gib, 'cuda' as backend,
      $engine as engine_name, $target as target, $model as target_label, 'Q4_K_M' as quantisation,
      $parameters as parameters, 3 as size_order, 'mtp' as method, 'MTP' as method_label,
      $depth as depth, $speedup as speedup, $person as contributor,
      if($differs, ['Other traffic.'], []) as also_differs
"""


@dataclass(kw_only=True)
class TypedMachine:
    """A card with one model: what was measured through each engine, and what people printed."""

    label: str
    memory: int
    size: int
    measured: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    printed: list[dict[str, Any]] = field(default_factory=list)

    @property
    def model(self) -> str:
        return f"Sample-{self.size}B"

    def best_plain(self) -> float:
        return max((plain for plain, _, _ in self.measured.values()), default=0.0)

    def campaigns(self) -> Iterator[Example]:
        for runner, (plain, speedup, low) in self.measured.items():
            made = campaign(
                speedup,
                within=(low, speedup**2 / low),
                task="code",
                baseline_tps=plain,
                tokens_per_round=2.0 * speedup,
                round_cost=2.0,
                gpu=f"NVIDIA GeForce {self.label.rsplit(' ', 2)[0]}",
                vram_mib=self.memory * 1024,
                parameters=self.size * 10**9,
                contributor=f"{runner}-{self.label}".lower().replace(" ", "-"),
            )
            (estimate,) = made.summary.estimates
            estimate = replace(estimate, tps=speedup * plain)
            engine = replace(made.submission.engine, runner=runner)
            yield entry(
                replace(made.submission, engine=engine),
                replace(made.summary, estimates=(estimate,)),
            )


def machine(rng: random.Random, number: int) -> TypedMachine:
    memory = rng.choice((6, 8, 12, 24))
    made = TypedMachine(
        label=f"RTX 9{number:03} {memory} GB", memory=memory, size=rng.choice(SIZES)
    )
    for runner in rng.sample(sorted(RUNNERS), rng.choice((0, 0, 1, 2))):
        speedup = rng.lognormvariate(0.1, 0.4)
        low = speedup / rng.choice((1.02, 1.1, 1.6))
        made.measured[runner] = (rng.uniform(10, 60), speedup, low)
    for _ in range(rng.choice((0, 0, 1, 2, 5))):
        made.printed.append(
            {
                "depth": rng.choice((2, 2, 4)),
                "speedup": rng.lognormvariate(0.3, 0.5),
                "person": rng.choice(PEOPLE),
                "engine": rng.choice(ENGINES),
                "differs": rng.random() < 0.2,
            }
        )
    return made


def tables(machines: list[TypedMachine]) -> duckdb.DuckDBPyConnection:
    connection = database(*(each for one in machines for each in one.campaigns()))
    rows = [(one, figure) for one in machines for figure in one.printed]
    for number, (one, figure) in enumerate(rows):
        slug = one.label.lower().replace(" ", "-")
        known = {"row": f"row-{number}", "device": slug, "label": one.label, "memory": one.memory}
        target = {"target": one.model.lower(), "model": one.model, "parameters": one.size * 1e9}
        connection.execute(PRINTED, known | target | figure)
    for table, columns in (
        ("published_row", "source, row_id from published_rate"),
        ("source", "'articles' as source, 'Articles' as title"),
    ):
        connection.execute(f"insert into {table} by name select {columns}")
    return connection


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Answered:
    """Each machine, what was asked about it (itself, its memory, another size), and the answer."""
    folder: Path = tmp_path_factory.mktemp("worlds")
    found = []
    for world in range(WORLDS):
        rng = random.Random(world)  # noqa: S311 - made-up machines
        machines = [machine(rng, number) for number in range(MACHINES)]
        connection = tables(machines)
        asked = [
            (one, words)
            for one in machines
            for words in (
                (one.label, one.model),
                (one.label, ""),
                (f"{one.memory} GB", f"{one.size}B"),
                (one.label, f"{rng.choice((8, 30))}B"),
            )
        ]
        given = {
            "file": json.loads(machine_file(connection).data),
            "words": as_json(),
            "asked": [words for _, words in asked],
        }
        answers = scripts.run(folder, DRAWN, given)
        found += [(one, words, answer) for (one, words), answer in zip(asked, answers, strict=True)]
    return found


def median_of(values: list[float]) -> float:
    """The median of ratios, between two of them the geometric mean."""
    return math.exp(median(map(math.log, values)))


def test_what_is_typed_is_named_in_the_answer(answered: Answered) -> None:
    assert len(answered) == 4 * WORLDS * MACHINES
    for _, (card, model), answer in answered:
        assert card in answer["text"]
        assert model in answer["text"]


def test_a_command_to_use_is_a_gain_that_fits_and_that_no_plain_engine_beats(
    answered: Answered,
) -> None:
    used = 0
    for one, _, answer in answered:
        if answer["commands"]["use"] is None:
            continue
        used += 1
        row = answer["shown"]
        assert (row["interval_low"] or row["speedup"]) > 1
        assert str(row["depth"]) in answer["commands"]["use"]
        if answer["memory"] not in (None, row["device"]["memory"]):
            weights_gib = row["model"]["parameters"] * 4.5 / 8 / 2**30  # at least
            assert weights_gib < answer["memory"]
        if row["tier"] == "published":
            assert "rebuilt from what the source says" in answer["text"]
            assert row["setting"]["note"] is None
        elif row["device"]["label"] == one.label:
            plain, speedup, _ = next(
                each for each in one.measured.values() if each[1] == pytest.approx(row["speedup"])
            )
            assert plain * speedup >= one.best_plain()
    assert used > len(answered) / 10


def test_a_printed_headline_is_the_median_over_people_of_each_ones_median(
    answered: Answered,
) -> None:
    checked = 0
    for one, (card, _), answer in answered:
        row = answer["found"]
        if row is None or row["tier"] != "published" or card != one.label:
            continue
        alike = [each for each in one.printed if not each["differs"]] or one.printed
        people = defaultdict(list)
        for each in alike:
            if each["depth"] == row["depth"]:
                people[each["person"]].append(each["speedup"])
        medians = sorted(median_of(each) for each in people.values())
        assert row["speedup"] == pytest.approx(median_of(medians), rel=1e-5)
        assert row["people"] == len(people)
        assert (row["least"], row["most"]) == pytest.approx((medians[0], medians[-1]), rel=1e-5)
        assert say.times(row["speedup"]) in answer["text"]
        if len(people) > 1:
            assert f"over {len(people)} people" in answer["text"]
        elif len(own := sorted(*people.values())) > 1:
            printed = f"{len(own)} figures that one person printed"
            assert f"{printed}, {say.times(own[0])} to {say.times(own[-1])}" in answer["text"]
        checked += 1
    assert checked > WORLDS


def test_a_measured_headline_is_its_bound_or_has_its_interval(answered: Answered) -> None:
    measured = [
        answer for _, _, answer in answered if (answer["found"] or {}).get("tier") == "measured"
    ]

    assert measured
    for answer in measured:
        row = answer["found"]
        bounded = row["verdict"] == "helps"
        shown = f"\u2265 {say.times(row['interval_low'])}" if bounded else say.times(row["speedup"])
        assert shown in answer["text"]
        assert say.interval(row["interval_low"], row["interval_high"]) in answer["text"]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The home page and the pages of all devices and models of one world, by path."""
    rng = random.Random(0)  # noqa: S311 - made-up machines
    connection = tables([machine(rng, number) for number in range(MACHINES)])
    site = Site(bundle="")
    made = [home(connection, site), *device_pages(connection, site)]
    return {each.path: each.text for each in (*made, *target_pages(connection, site))}


def test_a_page_with_figures_says_once_that_the_measured_ones_are_greedy(
    pages: dict[str, str],
) -> None:
    assert {text.count("greedy") for text in pages.values()} == {1}


def test_the_rates_with_and_without_speculation_on_a_page_divide_to_its_speedup(
    pages: dict[str, str],
) -> None:
    rates = re.compile(
        r"dm-two-columns.*?([\d.]+)\N{MULTIPLICATION SIGN}"
        r".*?Plain tokens/s\">([\d.]+)<.*?>([\d.]+)<",
        re.DOTALL,
    )
    rows = re.findall(r"<tr.*?</tr>", "".join(pages.values()), re.DOTALL)
    found = [each.groups() for line in rows if (each := rates.search(line))]

    assert len(found) > MACHINES / 4
    for speedup, plain, own in found:
        assert float(own) / float(plain) == pytest.approx(float(speedup), rel=0.006, abs=0.006)
