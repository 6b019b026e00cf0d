"""Files of other tools become results with the speedups worked out by hand."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from estimates.summary import summarize
from harness.errors import BadInputError
from harness.imports.importers import IMPORTERS
from harness.imports.needed_facts import typed
from harness.imports.source_files import Given, arm_and_path, digest, given
from schemas.method import Method
from schemas.weights import size_in
from tests.harness.imports.samples import ALL, SAMPLES, changed, file, files, imported, one, run


def test_every_importer_has_a_sample() -> None:
    assert ALL.keys() == IMPORTERS.keys()


@pytest.mark.parametrize("form", IMPORTERS)
def test_the_speedups_are_those_worked_out_by_hand(form: str) -> None:
    found = {
        (number, estimate.arm, estimate.task): estimate.speedup
        for number, submission in enumerate(imported(form).submissions)
        for estimate in summarize(submission).estimates
        if estimate.task is not None
    }

    assert found.keys() == ALL[form].speedups.keys()
    assert found == {
        key: None if wanted is None else pytest.approx(wanted, abs=1e-6)
        for key, wanted in ALL[form].speedups.items()
    }


@pytest.mark.parametrize("form", IMPORTERS)
def test_a_result_says_where_it_comes_from(form: str) -> None:
    submission = imported(form).submissions[0]

    assert submission.tier == "imported"
    assert submission.engine.runner == "imported"
    assert submission.origin is not None
    assert (submission.origin.format, submission.origin.source) == (form, "A thread")
    assert submission.origin.licence == "MIT"


def test_the_digest_is_that_of_the_file_or_of_the_digests_of_several() -> None:
    first, second = Given(name="a", data=b"1"), Given(name="b", data=b"2")
    single = hashlib.sha256(b"1").hexdigest()
    both = f"{single}\n{hashlib.sha256(b'2').hexdigest()}\n".encode()

    assert digest([first]) == single
    assert digest([first, second]) == hashlib.sha256(both).hexdigest()


def test_unstated_facts_stay_unknown() -> None:
    submission = one("vllm")

    assert submission.machine.cpu.name is None
    assert submission.machine.ram_mib is None
    assert submission.machine.os is None
    assert submission.engine.version is None
    assert submission.settings.max_output_tokens is None
    assert submission.target.parameters == 27_000_000_000  # by its name
    assert {trial.rounds for trial in submission.trials if trial.arm == "baseline"} == {None}


def test_all_missing_options_are_named_at_once() -> None:
    bare = [{"timings": {"predicted_n": 101, "predicted_ms": ms}} for ms in (2000.0, 1000.0)]

    with pytest.raises(BadInputError) as caught:
        run("llama-server", [file(f"{n}.json", each) for n, each in enumerate(bare)], {})

    for key in ("target", "quantisation", "backend", "gpu", "date", "sampling", "method"):
        assert f" {key}=…" in str(caught.value)
    assert "ram_mib" not in str(caught.value)


def test_a_draft_model_needs_its_depth_and_its_name() -> None:
    facts = ALL["vllm"].facts | {"method": "draft-model"}

    with pytest.raises(BadInputError, match=r"(?s)draft=….*draft_quantisation=….*n_max=…"):
        run("vllm", files("vllm"), facts)

    done = run("vllm", files("vllm"), {**facts, "draft": "Small-0.5B-Q8_0.gguf", "n_max": "4"})
    assert done.submissions[0].arms[1].method == Method(
        type="draft-model", draft="small-0.5b-q8_0", n_max=4
    )
    assert done.submissions[0].drafts[0].quantisation == "Q8_0"


def test_files_of_the_same_arm_repeat_it() -> None:
    off, on = files("vllm")
    first = [replace(off, arm="baseline"), replace(on, arm="mtp")]
    again = [replace(each, data=each.data + b"\n") for each in first]

    submission = run("vllm", [*first, *again], ALL["vllm"].facts).submissions[0]

    assert [arm.id for arm in submission.arms] == ["baseline", "mtp"]
    assert submission.design.blocks == 2
    assert len(submission.trials) == 12


def test_an_argument_may_name_its_arm() -> None:
    assert arm_and_path("MTP-n3=dir/on.json") == ("mtp-n3", Path("dir/on.json"))
    assert arm_and_path("dir/on=off.json") == (None, Path("dir/on=off.json"))


def test_a_baseline_that_drafted_is_refused() -> None:
    said = "48 tokens were drafted, but this file is the baseline"
    with pytest.raises(BadInputError, match=said):
        run("vllm", files("vllm")[::-1], ALL["vllm"].facts)


def test_more_prompts_than_a_result_holds_become_several_results() -> None:
    def many(name: str) -> Given:
        row = json.loads((SAMPLES / name).read_text(encoding="utf-8").splitlines()[0])
        rows = [
            row | {"custom_id": f"{category}{number}", "category": category}
            for category in ("code", "math")
            for number in range(300)
        ]
        return file(name, *rows)

    done = run("vllm", [many(name) for name in ALL["vllm"].files], ALL["vllm"].facts)

    assert [len(each.suite.prompts) for each in done.submissions] == [300, 300]
    assert [each.suite.prompts[0].task for each in done.submissions] == ["code", "math"]


BROKEN = [b"", b"\x00\x01", b"[1]", b"{", b"null", b'{"runs": 3}', b'{"results": [{"id": 1}]}']


@pytest.mark.parametrize("form", IMPORTERS)
@pytest.mark.parametrize("data", [*BROKEN, b"[" * 5000])
def test_a_foreign_or_broken_file_gets_one_line_with_its_name(form: str, data: bytes) -> None:
    broken = Given(name="broken.json", data=data)

    with pytest.raises(BadInputError) as caught:
        run(form, [broken], ALL[form].facts)

    assert "\n" not in str(caught.value)
    assert "broken.json" in str(caught.value) or "there is nothing to import" in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            {"predicted_n": "many"},
            '.predicted_n is "many", expected a whole number of at least 0',
        ),
        ({"predicted_ms": -1}, ".predicted_ms is -1, expected a number of at least 0"),
        ({"id": None}, ".id is missing, expected the name of a prompt"),
    ],
)
def test_a_wrong_value_is_named_with_its_place(wrong: dict[str, Any], said: str) -> None:
    def change(value: dict[str, Any]) -> None:
        value["runs"]["cpu"]["runs"][0]["records"][0].update(wrong)

    with pytest.raises(BadInputError) as caught:
        run("inventivehq", [changed("inventivehq.json", change)], ALL["inventivehq"].facts)

    assert f"inventivehq.json: $.runs.cpu.runs[0].records[0]{said}" in str(caught.value)


@pytest.mark.parametrize("moment", [10**15, 10**12])
def test_a_moment_after_the_last_year_is_refused(moment: int) -> None:
    row = json.loads((SAMPLES / "vllm-baseline.jsonl").read_text(encoding="utf-8").splitlines()[0])
    row["response"]["body"]["created"] = moment

    with pytest.raises(BadInputError, match=r"created is .* expected a time in seconds since 1970"):
        run("vllm", [file("base", row)], ALL["vllm"].facts)


def test_files_with_names_need_a_baseline_among_them() -> None:
    said = "none of the files is the baseline; mark the baseline's file with baseline=FILE"
    with pytest.raises(BadInputError, match=said):
        run("vllm", [given(SAMPLES / "vllm-spec.jsonl", "mtp")], ALL["vllm"].facts)


@pytest.mark.parametrize(
    ("name", "size", "active"),
    [
        ("Qwen3.8-27B", "27B", None),
        ("Qwen2.5-Coder-0.5B-Instruct", "0.5B", None),
        ("SmolLM2-135M", "135M", None),
        ("Qwen3.5-35B-A3B", "35B", "3B"),
        ("Mixtral-8x7B", None, None),
        ("gemma-3n-E4B", None, None),
    ],
)
def test_a_name_gives_the_size_of_a_model(name: str, size: str | None, active: str | None) -> None:
    assert (size_in(name), size_in(name, active=True)) == (size, active)


def test_the_axes_of_an_import_can_be_stated() -> None:
    stated = {
        "sampling": "other", "temperature": "0.8", "sampling_seed": "3", "split_mode": "row",
        "cpu_expert_layers": "-1",
    }  # fmt: skip

    made = run("vllm", files("vllm"), ALL["vllm"].facts | stated).submissions[0].settings

    assert typed({"context_depth_tokens": "4096"}).context_depth_tokens == 4096
    assert (made.temperature, made.sampling_seed) == (0.8, 3)
    assert (made.cpu_expert_layers, made.split_mode) == (-1, "row")


@pytest.mark.parametrize("text", ["hot", "nan", "inf"])
def test_a_temperature_outside_the_format_is_refused(text: str) -> None:
    with pytest.raises(BadInputError, match=f"--map temperature='{text}': expected a number"):
        run("vllm", files("vllm"), ALL["vllm"].facts | {"temperature": text})
