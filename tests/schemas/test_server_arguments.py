"""A result states only server arguments on the harness's list."""

import json
from pathlib import Path

import pytest

from schemas import contract
from schemas.codec import canonical_bytes
from schemas.submission import Submission
from tests.samples import sample, sample_bytes

ROOT = Path(__file__).parents[2]


def places(*, argv: list[str] | None = None, server: list[str] | None = None) -> list[str]:
    """The places of the contract's findings in a result with these arguments."""
    document = json.loads(sample_bytes(sample(tasks=("code",), prompts_per_task=1, blocks=1)))
    if argv is not None:
        document["arms"][1]["argv"] = argv
    if server is not None:
        document["settings"]["server_arguments"] = server
    found = contract.findings(canonical_bytes(document))
    assert {each.rule for each in found} <= {"arguments-public", "no-secrets"}
    return [each.path for each in found if each.rule == "arguments-public"]


@pytest.mark.parametrize(
    ("argument", "place"),
    [
        ("--rpc evil.example.com:50052", 3), ("--model-url evil.com", 3),  # only the value
        ("--host 0.0.0.0", 2), ("--log-file x.log", 2), ("--mine evil.com", 2),
    ],
)  # fmt: skip
def test_an_argument_that_the_harness_hides_is_refused(argument: str, place: int) -> None:
    assert places(server=["--cache-reuse 256", argument]) == ["$.settings.server_arguments[1]"]
    assert places(argv=["--threads", "4", *argument.split()]) == [f"$.arms[1].argv[{place}]"]


@pytest.mark.parametrize("argv", [["--alias", "a name of one's own"], ["--api-key", "hunter2"]])
def test_a_value_that_the_harness_hides_is_refused(argv: list[str]) -> None:
    assert places(argv=argv) == ["$.arms[1].argv[0]"]


def test_arguments_as_the_harness_writes_them_are_accepted() -> None:
    argv = [
        "--threads",
        "4",
        "…",
        "--…",
        "--rpc",
        "…",
        "--speculative-config",
        '{"method": "ngram", "…": "…"}',
    ]

    assert places(argv=argv, server=["--cache-reuse 256", "--swa-full"]) == []


def test_hidden_words_that_were_not_joined_are_named_without_a_traceback() -> None:
    assert places(argv=["…", "…"]) == ["$.arms[1].argv[0]"]


@pytest.mark.results
def test_all_results_keep_their_arguments() -> None:
    results = sorted((ROOT / "results" / "community").rglob("*.json"))

    assert results
    assert all(isinstance(contract.read(each.read_bytes()), Submission) for each in results)


def secrets(change: dict[str, object]) -> list[tuple[str, str]]:
    document = json.loads(sample_bytes(sample(tasks=("code",), prompts_per_task=1, blocks=1)))
    document["machine"]["cpu"] |= change
    found = contract.findings(canonical_bytes(document))
    return [(each.path, each.rule) for each in found]


def test_two_texts_that_are_a_secret_together_are_refused_at_the_first() -> None:
    assert secrets({"name": "Chip --api-key"}) == [("$.machine.cpu.name", "no-secrets")]
    assert secrets({"name": "Chip --api"}) == []


def test_the_finding_excludes_the_text_before_a_secret() -> None:
    key = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3gH5j"

    assert secrets({"name": key}) == [("$.machine.cpu.name", "no-secrets")]
