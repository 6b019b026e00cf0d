"""The gate builds: a reply shows what new files move, and what cannot be built is refused."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from pipeline.cache import Cache
from pipeline.data.database import open_database
from pipeline.difference import Own, State, differences, moved_others, with_files
from pipeline.intake.figure_form import published
from pipeline.intake.paths import FOLDER
from pipeline.intake.reply import Effect, Result
from pipeline.site.pages.device_and_model_pages import place_pages
from pipeline.site.pages.model import Site
from schemas.finding import Finding
from tests.pipeline.corpus_examples import VICTIM, copied
from tests.pipeline.tables import canonical_name
from tests.pipeline.test_unchecked import FORM
from tests.samples import sample, sample_bytes

OTHER = FORM | {"card": "RTX 4090 24 GB"}


def figure(answers: Mapping[str, str], **by: str) -> tuple[str, bytes]:
    name, data = published(answers, "2026-11-25", **by)
    return f"results/published/{name}", data


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A collection in which one person tried two depths on a card, and another only one."""
    for answers in (
        FORM | {"who": "ada", "depth": "2", "after": "45"},
        OTHER | {"who": "bob", "depth": "2", "after": "48"},
        OTHER | {"who": "bob", "depth": "3", "after": "60"},
    ):
        path, data = figure(answers, checked_by="mae")
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    return tmp_path


def test_the_reply_shows_what_an_unchecked_figure_will_move(base: Path) -> None:
    (made,) = differences(base, dict([figure(FORM | {"after": "63"}, reported_by="eve")]))

    assert isinstance(made, Effect)
    assert not made.is_checked
    assert made.claims is not None
    assert [(each.person, each.address, each.speedup) for each in made.claims] == [
        ("bea", "https://example.org/t/1", 2.1)
    ]
    assert made.figures is not None
    # The median, on a log scale, of 45 / 30 and of 63 / 30.
    ((what, before, after),) = [(x.what, x.before, x.after) for x in made.figures]
    assert what == "RTX 3090 24 GB + Qwen3.8-27B, MTP"
    assert before == pytest.approx(1.5)
    assert after == pytest.approx(1.775, abs=0.001)
    assert made.predictions is not None
    assert {each.what.split(" with ")[1] for each in made.predictions} == {"qwen3.8-27b"}
    assert "RTX 3090 24 GB with qwen3.8-27b" in {each.what for each in made.predictions}


def test_figures_at_another_depth_move_no_other_card(base: Path) -> None:
    # Two people and ada would now make depth 3 the commonest one for this model, and turn bob's
    # 48 / 30 into 60 / 30; the usual depth of a method is fixed.
    many = {}
    for who in ("cyd", "dan"):
        answers = FORM | {"who": who, "depth": "3", "after": str(40 + len(many))}
        many |= dict([figure(answers, checked_by="mae")])

    found = [*differences(base, many)]

    assert [type(each) for each in found] == [Effect]


def test_whatever_moves_beyond_the_own_pairs_is_named(base: Path) -> None:
    before = State.of(open_database(base / "results"))
    with with_files(base, dict([figure(FORM | {"after": "63"}, checked_by="mae")])):
        after = State.of(open_database(base / "results"))
    pair = frozenset({("rtx-3090-24-gb", "qwen3-8-27b")})
    own = Own(pairs=pair, models=frozenset({"qwen3.8-27b"}))
    nobody = Own(pairs=frozenset(), models=frozenset())

    assert [*moved_others(before, after, own)] == []
    words = [*moved_others(before, after, nobody)]
    assert "moves the figure of RTX 3090 24 GB + Qwen3.8-27B, MTP" in words


@pytest.mark.parametrize("left_out", ["engine", "depth", "date", "task"])
def test_a_figure_may_leave_out_what_its_page_does_not_state(base: Path, left_out: str) -> None:
    answers = {name: text for name, text in FORM.items() if name != left_out} | {"date": "2026-07"}

    found = [*differences(base, dict([figure(answers, reported_by="eve")]))]

    assert not any(isinstance(each, Finding) for each in found)


def test_a_result_is_built_too(base: Path) -> None:
    own = sample(tasks=("code",), prompts_per_task=2, blocks=2)

    result, made = differences(base, {f"{FOLDER}/{canonical_name(own)}": sample_bytes(own)})

    assert isinstance(result, Result)
    assert isinstance(made, Effect)
    assert made.is_checked
    assert made.claims is None


def test_a_result_has_the_flags_of_the_build_which_compares_it_with_all_others(base: Path) -> None:
    new = {f"{FOLDER}/{canonical_name(each)}": sample_bytes(each) for each in (VICTIM, copied())}

    found = [each for each in differences(base, new) if isinstance(each, Result)]

    flags = [{flag.name for flag in each.understood.flags} for each in found if each.understood]
    assert ["copied-times" in each for each in flags] == [True, True]


def test_what_the_build_cannot_take_is_refused_with_the_reason(base: Path) -> None:
    path, data = figure(FORM, reported_by="eve")
    document = json.loads(data)
    document["rows"][1]["figures"][0]["value"] = 0

    (found,) = differences(base, {path: json.dumps(document).encode()})

    assert isinstance(found, Finding)
    assert found.rule == "does-not-build"
    assert "0 is too small" in found.message


def test_an_unchecked_figure_is_a_line_on_existing_pages_and_makes_none(base: Path) -> None:
    new = [figure(FORM | {"after": "63"}, reported_by="eve")]
    new += [figure(FORM | {"after": "crashed", "model": "Nobody-9B"}, reported_by="eve")]
    for path, data in new:
        (base / path).write_bytes(data)
    site = Site(bundle="", cache=Cache(base / "cache"))

    pages = {each.path: each.text for each in place_pages(open_database(base / "results"), site)}

    assert set(pages) == {
        "devices/rtx-3090-24-gb.md", "devices/rtx-4090-24-gb.md", "models/qwen3-8-27b.md",
    }  # fmt: skip
    card = pages["devices/rtx-3090-24-gb.md"].partition('id="unchecked"')[2]
    assert "Qwen3.8-27B" in card
    assert "reported by eve" in card
    assert "Nobody-9B, MTP 2: crashed, by bea" in " ".join(card.split())
    assert "RTX 3090 24 GB" in pages["models/qwen3-8-27b.md"].partition('id="unchecked"')[2]
    assert 'id="unchecked"' not in pages["devices/rtx-4090-24-gb.md"]
