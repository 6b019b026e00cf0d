"""Files of other tools become results with the speedups worked out by hand."""

import gzip
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from estimates.summary import summarize
from harness.errors import BadInputError
from harness.imports.arm_methods import method_of
from harness.imports.importers import IMPORTERS
from harness.imports.json_values import parse
from harness.imports.needed_facts import typed
from harness.imports.source_files import MAX_BYTES, Given, arm_and_path, digest, given
from schemas.model_sizes import size_in
from tests.harness.imports.samples import ALL, SAMPLES, files, imported, run


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

    assert (submission.tier, submission.engine.runner) == ("imported", "imported")
    assert submission.origin is not None
    assert (submission.origin.format, submission.origin.source) == (form, "A thread")
    assert submission.origin.licence == "MIT"


def test_no_private_folder_gets_into_a_result() -> None:
    assert all("somebody" not in repr(each) for each in imported("llama-server").submissions)


def test_the_digest_is_that_of_the_file_or_of_the_digests_of_several() -> None:
    first, second = Given(name="a", data=b"1"), Given(name="b", data=b"2")
    single = hashlib.sha256(b"1").hexdigest()
    both = f"{single}\n{hashlib.sha256(b'2').hexdigest()}\n".encode()

    assert digest([first]) == single
    assert digest([first, second]) == hashlib.sha256(both).hexdigest()


def test_a_compressed_file_reads_like_its_content(tmp_path: Path) -> None:
    inside = (SAMPLES / "llama-bench.json").read_bytes()
    (tmp_path / "bench.json.gz").write_bytes(gzip.compress(inside))
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(inside)[:-20])
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b" " * (MAX_BYTES + 1), compresslevel=1))

    packed = given(tmp_path / "bench.json.gz")

    assert (packed.data, packed.stem) == (inside, "bench")
    with pytest.raises(BadInputError, match="cannot be unpacked"):
        given(tmp_path / "cut.json.gz")
    with pytest.raises(BadInputError, match="larger than 64 MiB"):
        given(tmp_path / "bomb.gz")


def test_a_text_that_says_nan_keeps_it() -> None:
    value = parse(r'{"a": "NaN \" Infinity", "b": [NaN, -Infinity, 1.5]}', "a.json")

    assert value == {"a": 'NaN " Infinity', "b": [None, None, 1.5]}


def test_files_of_the_same_arm_repeat_it() -> None:
    off, on = files("vllm")
    first = [replace(off, arm="baseline"), replace(on, arm="mtp")]
    again = [replace(each, data=each.data + b"\n") for each in first]

    submission = run("vllm", [*first, *again], ALL["vllm"].facts).submissions[0]

    assert [arm.id for arm in submission.arms] == ["baseline", "mtp"]
    assert (submission.design.blocks, len(submission.trials)) == (2, 12)


def test_an_argument_may_name_its_arm() -> None:
    assert arm_and_path("MTP-n3=dir/on.json") == ("mtp-n3", Path("dir/on.json"))
    assert arm_and_path("dir/on=off.json") == (None, Path("dir/on=off.json"))


@pytest.mark.parametrize(
    ("types", "method"),
    [
        (["draft-mtp"], "mtp"),
        (["draft_mtp"], "mtp"),
        (["ngram-mod", "draft-mtp"], "other:name=ngram-mod+mtp,chain=ngram-mod+mtp"),
        (["ngram-mod", "unheard-of"], None),
        ([], None),
    ],
)
def test_several_types_are_a_chain_and_an_unknown_one_is_not_a_method(
    types: list[str], method: str | None
) -> None:
    assert method_of(types) == method


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


def test_the_depth_of_the_context_can_be_stated() -> None:
    assert typed({"context_depth_tokens": "4096"}).context_depth_tokens == 4096
