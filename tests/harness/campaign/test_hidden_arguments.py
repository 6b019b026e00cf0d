"""A result shows known harmless arguments of a server's command line, and `…` for the rest."""

from pathlib import Path

import pytest

from harness.campaign.hidden_arguments import recorded


def test_arguments_that_affect_speed_are_recorded() -> None:
    command = (
        "/srv/ann/bin/vllm", "serve", "Qwen/Qwen3-8B", "--port", "{port}", "--dtype", "bfloat16",
        "--max-num-batched-tokens=512", "--gpu_memory_utilization", "0.9", "--enforce-eager",
        "--speculative-config",
        '{"method": "draft_model", "model": "Qwen/Qwen3-0.6B", "num_speculative_tokens": 3}',
    )  # fmt: skip

    assert recorded(command) == command[1:]


def test_only_known_engine_modules_are_shown() -> None:
    sglang = ("python", "-m", "sglang.launch_server", "--speculative-num-steps", "-1")

    assert recorded(sglang) == sglang[1:]
    assert recorded(("python", "-m", "acme_secret.server")) == ("-m", "…")


def test_a_path_that_looks_like_a_name_of_the_hub_is_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ann" / "draft").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    assert recorded(("vllm", "serve", "ann/draft", "--model", "ann/draft")) == (
        "serve", "…", "--model", "…",
    )  # fmt: skip


def test_adjacent_hidden_words_are_merged_and_values_of_unknown_flags_hidden() -> None:
    command = ("x", "--mine", "a", "b", "--other", "--threads", "4", "--speculative-config", "{}")

    assert recorded(command) == ("--…", "--threads", "4", "--speculative-config", "{}")


def test_unknown_settings_of_a_configuration_are_hidden_by_name_and_value() -> None:
    config = '{"method": "ngram", "auth_token": "x", "list": ["a/b"], "prompt_lookup_max": 4}'

    assert recorded(("vllm", "-sc", config)) == (
        "-sc", '{"method": "ngram", "…": "…", "prompt_lookup_max": 4}',
    )  # fmt: skip


def test_recorded_arguments_fit_the_format() -> None:
    visible = recorded(("x", *("--threads", "4") * 100))

    assert len(visible) == 128
