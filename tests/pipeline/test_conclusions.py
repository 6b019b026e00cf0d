"""For random machines, pages claim no more than people measured and published."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb
import pytest

from pipeline.site.pages.device_and_model_pages import place_pages
from pipeline.site.pages.home import home
from pipeline.site.pages.model import Site
from tests.pipeline.tables import Example, campaign, database, entry, print_figures

MACHINES = 40
SIZES = (3, 7, 14, 32)
PEOPLE = ("ada", "bob", "cyd", "dan")
ENGINES = ("llama.cpp", "vLLM", "MLX", "llama.cpp, turboquant fork")
RUNNERS = {"llama-server": "llama.cpp server", "llama-cpp-python": "llama.cpp"}


@dataclass(kw_only=True)
class TypedMachine:
    """A card with one model: measurements through each engine, and published figures."""

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
    figures = (
        {
            **figure,
            "device": one.label.lower().replace(" ", "-"),
            "device_label": one.label,
            "vram_gib": one.memory,
            "target": one.model,
            "parameters": one.size * 1e9,
        }
        for one in machines
        for figure in one.printed
    )
    return print_figures(connection, *figures)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The home page and the pages of all devices and models of one world, by path."""
    rng = random.Random(0)  # noqa: S311 - simulated machines
    connection = tables([machine(rng, number) for number in range(MACHINES)])
    site = Site(bundle="")
    made = (home(connection, site, ()), *place_pages(connection, site))
    return {each.path: each.text for each in made}


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
