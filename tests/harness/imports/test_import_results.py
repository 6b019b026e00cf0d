"""Logs and answers become the results worked out by hand."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from estimates.summary import summarize
from harness.errors import BadInputError
from harness.imports.arm_methods import method_of
from harness.imports.json_values import parse
from harness.imports.source_files import MAX_BYTES, Given, arm_and_path, digest, given
from schemas.codec import encode
from schemas.model_sizes import size_in
from tests.harness.imports.samples import (
    GREEDY,
    MTP,
    SAMPLES,
    answer,
    at,
    file,
    logs,
    run,
    served,
    timed,
)
from tests.pipeline.test_slower_reading import PLAIN_RUN, SPECULATIVE

COUNTS = "trials.1.drafted,accepted,rounds"


class Case(NamedTuple):
    """Files with facts, the values of their result, and words of what is left out."""

    files: Sequence[Given]
    facts: Mapping[str, str]
    values: Mapping[str, Any]
    left_out: Sequence[str] = ()


def older(sign: str) -> list[Given]:
    off, on = logs()
    text = on.text.replace("draft acceptance =", sign).replace(", mean len", " ;")
    return [off, file("llama-server-on.log", text)]


def against(**timings: float | None) -> list[Given]:
    """A plain answer, and one with these timings."""
    return [answer("off.json", 2000.0), answer("on.json", 1000.0, **timings)]


NO_TIME = "a record without tokens or without a time (on.json: $)"
PLAIN, SLOW = [0.1] * 10, [0.2] * 10
CASES = {
    # Two prompts with equal times, sped up 2 and 4 times: (1 + 1) / (1/2 + 1/4) is 8/3.
    "build, model, method and counters": Case(
        logs(), GREEDY,
        {
            "engine.build_number,commit": [10450, "ece963f41"],
            "arms.1.method": {"type": "mtp"},
            "trials.*.drafted,accepted,rounds": [[None] * 3] * 2 + [[100, 50, 50], [80, 60, 40]],
            "suite.prompts.*.tokens,task": [[50, "other"], [60, "other"]],
            "trials.2.prompt_ms": 110.0,
            "origin.format,source": ["llama.cpp", "A thread"],
            "summary.estimates.task=other.speedup": [pytest.approx(8 / 3)],
            # Facts that nobody stated stay unknown.
            "machine.cpu,ram_mib,os": [{}, None, None],
            "target.parameters": 27_000_000_000,  # by its name
        },
        ["statistics lines"],
    ),
    "an older name of the acceptance": Case(
        older("draft acceptance rate ="), GREEDY, {"trials.*.accepted": [None, None, 50, 60]}
    ),
    "no mean length": Case(
        older("draft acceptance ="), GREEDY, {"trials.*.accepted": [None, None, 50, 60]}
    ),
    # One step from before the first token: 101 steps, of which 31 rounds and 70 accepted tokens.
    "llama-cli and llama-speculative count steps": Case(
        [file("off.log", PLAIN_RUN), file("on.log", SPECULATIVE)],
        GREEDY | {"method": "mtp:n_max=4"},
        {
            "trials.*.output_tokens,decode_ms,rounds": [[101, 1000.0, None], [102, 500.0, 31]],
            "summary.estimates.task=other.speedup": [pytest.approx(2.02)],
        },
    ),
    "an answer with timings": Case(
        against(draft_n=100, draft_n_accepted=50), MTP | {"task": "code"},
        {
            "trials.*.output_tokens,decode_ms,drafted": [[101, 2000.0, None], [101, 1000.0, 100]],
            "suite.prompts.0.tokens,task": [50, "code"],
            "engine.build_number": 10068,
            "trials.0.finish": "length",
        },
    ),
    "an arm that drafted nothing": Case(
        against(), MTP,
        {"trials.1.drafted": 0, "summary.flags.name=never-drafted.name": ["never-drafted"]},
    ),
    # 101 tokens less 75 accepted and the first leave 25 rounds, too few for 90 drafts of 3.
    "too few rounds": Case(
        against(draft_n=90, draft_n_accepted=75), MTP, {COUNTS: [90, 75, None]},
        ["too few rounds for drafts of at most 3 tokens (on.json: $)"],
    ),
    "more accepted than drafted": Case(
        against(draft_n=40, draft_n_accepted=50), MTP, {COUNTS: [None] * 3},
        ["counters with more accepted than drafted tokens (on.json: $)"],
    ),
    "no time": Case(
        against(predicted_ms=0, predicted_per_second=None), MTP,
        {"trials.*.arm": ["baseline"]}, [NO_TIME],
    ),
    "a time too short to store": Case(
        against(predicted_ms=1e-9, predicted_per_second=None), MTP,
        {"trials.*.arm": ["baseline"]}, [NO_TIME],
    ),
    "a draft model": Case(
        logs(), GREEDY | {"arm.llama-server-on": "draft-model:draft=Small-0.5B-Q8_0.gguf,n_max=4"},
        {
            "arms.1.method": {"type": "draft-model", "draft": "small-0.5b-q8_0", "n_max": 4},
            "drafts.0.quantisation": "Q8_0",
        },
    ),
    "axes": Case(
        logs(),
        GREEDY | {"sampling": "other", "temperature": "0.8", "sampling_seed": "3",
                  "split_mode": "row", "cpu_expert_layers": "-1"},
        {"settings.temperature,sampling_seed,cpu_expert_layers,split_mode": [0.8, 3, -1, "row"]},
    ),
    "answers of vLLM with metrics": Case(
        [file("off", timed(800.0)),
         file("on", timed(400.0, num_draft_tokens=48, num_accepted_draft_tokens=24))],
        GREEDY | {"method": "eagle3:n_max=3"},
        {
            "trials.*.output_tokens,decode_ms": [[41, 800.0], [41, 400.0]],
            COUNTS: [48, 24, 16],
            "engine.name": "vLLM",
        },
    ),
    # Fewer chunks, as drafts come in one: 0.5 s and 0.25 s in place of 1 s and 2 s; the mean is
    # the square root of 2 · 8.
    "requests of a serving benchmark": Case(
        [served("off", PLAIN, SLOW, max_concurrency=2),
         served("on", [0.25] * 2, [0.05] * 5, max_concurrency=2)],
        GREEDY | {"engine": "vLLM", "method": "eagle3", "dataset": "ShareGPT"},
        {
            "trials.*.decode_ms": [1000.0, 2000.0, 500.0, 250.0],
            "arms.*.concurrency": [2, 2],
            "suite.id": "a-serving-benchmark-sharegpt",
            "summary.estimates.task=other.speedup": [pytest.approx(4.0)],
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_file_becomes_the_result_worked_out_by_hand(name: str) -> None:
    files, facts, values, left_out = CASES[name]

    done = run(files, facts)

    found = encode(done.submission) | {"summary": encode(summarize(done.submission))}
    assert {path: at(found, path) for path in values} == values
    for words in left_out:
        assert any(words in line for line in done.left_out), done.left_out


def test_no_private_folder_gets_into_a_result() -> None:
    assert "somebody" not in repr(run(logs(), GREEDY))


def test_files_of_the_same_arm_repeat_it() -> None:
    off, on = logs()
    first = [replace(off, arm="baseline"), replace(on, arm="mtp")]
    again = [replace(each, data=each.data + b"\n") for each in first]

    submission = run([*first, *again], GREEDY).submission

    assert [arm.id for arm in submission.arms] == ["baseline", "mtp"]
    assert (submission.design.blocks, len(submission.trials)) == (2, 8)


def test_a_compressed_file_reads_like_its_content(tmp_path: Path) -> None:
    inside = (SAMPLES / "llama-server-off.log").read_bytes()
    (tmp_path / "off.log.gz").write_bytes(gzip.compress(inside))
    (tmp_path / "cut.log.gz").write_bytes(gzip.compress(inside)[:-20])
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b" " * (MAX_BYTES + 1), compresslevel=1))

    packed = given(tmp_path / "off.log.gz")

    assert (packed.data, packed.stem) == (inside, "off")
    assert Given(name="x", data=inside.decode().encode("utf-16")).text == inside.decode()
    with pytest.raises(BadInputError, match="cannot be unpacked"):
        given(tmp_path / "cut.log.gz")
    with pytest.raises(BadInputError, match="larger than 64 MiB"):
        given(tmp_path / "bomb.gz")


def test_the_digest_is_that_of_the_file_or_of_the_digests_of_several() -> None:
    first, second = Given(name="a", data=b"1"), Given(name="b", data=b"2")

    # sha256sum of "1", and of the two digests in lines of their own.
    assert digest([first]).startswith("6b86b273ff34fce1")
    assert digest([first, second]).startswith("e7288ff80eff6cea")


def test_a_text_that_says_nan_keeps_it() -> None:
    value = parse(r'{"a": "NaN \" Infinity", "b": [NaN, -Infinity, 1.5]}', "a.json")

    assert value == {"a": 'NaN " Infinity', "b": [None, None, 1.5]}


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
