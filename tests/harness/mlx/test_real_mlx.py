"""The runner mlx and mlx_lm.server count correctly on a real MLX."""

import json
import math
import re
import shlex
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from schemas.codec import token_digest
from tools.mlx.environment import DRAFT, MODELS, ROOT, TARGET, variables

SUITE = Path(__file__).with_name("suite.toml")
PROMPTS = {each["id"]: each["text"] for each in tomllib.loads(SUITE.read_text("utf-8"))["prompts"]}
FEW = ("code-function", "chat-days")
LIMIT, DEPTH = 32, 3
TARGET_WORDS = ("--target", str(MODELS / TARGET))
DRAFT_WORDS = ("--draft", str(MODELS / DRAFT), "--method", f"draft-model:n_max={DEPTH}")
SERVE = (sys.executable, "-m", "mlx_lm.server", "--model", str(MODELS / TARGET), "--port", "{port}")
SERVE_DRAFTING = (*SERVE, "--draft-model", str(MODELS / DRAFT), "--num-draft-tokens", str(DEPTH))
# If a prompt is partly in its cache, its answers differ when it drafts.
UNCACHED = ("--prompt-cache-size", "0")
SPENT_MS = ("prompt_ms", "draft_prompt_ms", "decode_ms")


def python(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:  # noqa: ANN401 - of `run`
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=ROOT,
        env=variables(),
        capture_output=True,
        text=True,
        timeout=2400,
        check=False,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return done


def measured(folder: Path, *words: str) -> dict[str, Any]:
    """The result of a run, which both validators accept."""
    output = folder / "result.json"
    asked = ("--suite", str(SUITE), "--blocks", "1", "--max-tokens", str(LIMIT))
    python("harness", "run", *TARGET_WORDS, *words, *asked, "--output", str(output))
    document: dict[str, Any] = json.loads(output.read_text("utf-8"))
    python("harness", "validate", str(output))
    return document


def trials(document: dict[str, Any], arm: str) -> dict[str, dict[str, Any]]:
    found = [each for each in document["trials"] if each["arm"].startswith(arm)]
    assert all(each["outcome"] == "ok" for each in found)
    return {each["prompt"]: each for each in found}


def counted(depth: int) -> dict[str, dict[str, Any]]:
    """The output of `stream_generate` without the runner."""
    asked = [{"prompt": PROMPTS[name], "limit": LIMIT, "depth": depth} for name in FEW]
    done = python("tools.mlx.count", input="".join(json.dumps(each) + "\n" for each in asked))
    return dict(zip(FEW, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run with a draft that lacks four layers."""
    return measured(tmp_path_factory.mktemp("draft"), "--runner", "mlx", *DRAFT_WORDS)


def test_rounds_and_tokens_are_those_of_the_stream(drafted: dict[str, Any]) -> None:
    found, plain, alone = (
        trials(drafted, "draft-model"),
        trials(drafted, "baseline"),
        counted(DEPTH),
    )

    for name in FEW:
        trial, written = found[name], alone[name]
        tokens = [token for token, _ in written["whole"]]
        assert tokens[1:] == [token for token, _ in written["rest"]]
        assert trial["output_sha256"] == token_digest(tokens) == plain[name]["output_sha256"]
        letters = "".join("d" if drafted else "t" for _, drafted in written["rest"])
        rounds = re.findall("d*t|d+$", letters)
        assert trial["rounds"] == len(rounds)
        assert trial["accepted"] == len(letters) - len(rounds)
        assert 0 < trial["accepted"] < trial["drafted"] <= DEPTH * len(rounds)
        assert plain[name]["rounds"] == len(tokens) - 1


def test_a_result_says_what_was_measured(drafted: dict[str, Any]) -> None:
    engine, probes = drafted["engine"], drafted["probes"]

    assert (engine["runner"], engine["name"]) == ("mlx", "mlx-lm")
    assert (engine["version"], engine["package_version"]) == ("0.32.2", "0.32.4")
    assert probes["verification"]["widths"] == [1, 2, 3, 4]
    first, *wider = probes["verification"]["step_ms_median"]
    assert 0 < first < wider[-1]
    assert [each["draft"] for each in probes["drafting"]] == [drafted["drafts"][0]["id"]]
    # 513 MiB of weights; the draft has another 459.
    peaks = [arm["peak_memory"][0]["peak_mib"] for arm in drafted["arms"]]
    assert 500 < peaks[0] < 900 < peaks[1]
    assert str(MODELS) not in json.dumps(drafted)


def test_the_harness_takes_no_more_than_three_hundredths_of_the_time(
    drafted: dict[str, Any],
) -> None:
    shares = [
        1 - sum(trial.get(each, 0.0) for each in SPENT_MS) / trial["wall_ms"]
        for trial in drafted["trials"]
    ]

    assert max(shares) <= 0.03


def test_without_a_draft_the_baseline_is_measured_against_itself(tmp_path: Path) -> None:
    words = ("--runner", "mlx", "--control", "--tasks", "code")

    document = measured(tmp_path, *words)

    assert document["drafts"] == []
    assert [arm["role"] for arm in document["arms"]] == ["baseline", "control"]
    plain, again = (trials(document, arm["id"]) for arm in document["arms"])
    for name, written in counted(0).items():
        if name in plain:
            assert plain[name]["output_sha256"] == token_digest(
                [token for token, _ in written["whole"]]
            )
    for name, trial in plain.items():
        assert trial["output_sha256"] == again[name]["output_sha256"]
        assert (trial["drafted"], trial["rounds"]) == (0, trial["output_tokens"] - 1)


def test_the_server_gives_the_speedup_of_the_runner(
    drafted: dict[str, Any], tmp_path: Path
) -> None:
    served = measured(
        tmp_path, "--runner", "openai", *DRAFT_WORDS,
        "--server-command", shlex.join((*SERVE, *UNCACHED)),
        "--spec-server-command", shlex.join((*SERVE_DRAFTING, *UNCACHED)),
    )  # fmt: skip

    assert (served["engine"]["name"], served["engine"]["version"]) == ("mlx-lm", "0.32.2")
    assert served["engine"]["backend"] == drafted["engine"]["backend"]
    apart = differences(drafted, served)
    half = stats.t.ppf(0.975, len(apart) - 1) * statistics.stdev(apart) / math.sqrt(len(apart))
    shown = f"{statistics.mean(apart):+.3f} ± {half:.3f} of {apart}"
    assert half <= 0.08, f"the machine is not quiet: {shown}"
    assert abs(statistics.mean(apart)) <= half, shown


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[float]:
    """Log differences between the speedups of two results, for each prompt."""
    first, second = speedups(one), speedups(other)
    assert first.keys() == second.keys() == PROMPTS.keys()
    return [math.log(first[name] / second[name]) for name in first]


def speedups(document: dict[str, Any]) -> dict[str, float]:
    plain, faster = trials(document, "baseline"), trials(document, "draft-model")
    return {name: plain[name]["decode_ms"] / faster[name]["decode_ms"] for name in plain}
