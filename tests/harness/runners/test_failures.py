"""A log or an answer says why an engine failed."""

import pytest

from harness.runners import failures


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("ggml_cuda: cudaMalloc failed: out of memory", "out-of-memory"),
        ("ggml_vulkan: Device memory allocation failed: ErrorOutOfDeviceMemory", "out-of-memory"),
        ("the draft model 'x' is not compatible with the target model 'y'", "vocabulary-mismatch"),
        ("llama_model_load: error loading model: missing tensor", "load-failed"),
        ("all slots are idle", None),
    ],
)
def test_the_log_names_the_reason(line: str, reason: str | None) -> None:
    assert failures.reason_in(f"loading\n{line}\nexiting\n") == reason


def test_the_last_line_about_an_error_is_quoted() -> None:
    text = "loading\nerror:  cannot   open x\nbye\n"

    assert failures.failure_in_log(text, otherwise="crashed", what="it ended").detail == (
        "it ended: error: cannot open x"
    )


def test_an_empty_log_is_reported_as_empty() -> None:
    assert failures.last_line("") == "the log is empty"


def test_the_line_that_decided_the_reason_is_quoted() -> None:
    text = "cudaMalloc failed: out of memory\nerror loading model: x\nfailed to load model\n"

    failure = failures.failure_in_log(text, otherwise="crashed", what="it ended")

    assert failure.reason == "out-of-memory"
    assert failure.detail == "it ended: cudaMalloc failed: out of memory"


def test_the_reason_of_an_abort_is_quoted_and_not_its_backtrace() -> None:
    text = "ngram-map.cpp:237: idx > cur_len: assert failed\n#1  0x7f1 in ggml_abort ()\n"

    assert failures.last_line(text) == "ngram-map.cpp:237: idx > cur_len: assert failed"


def test_a_context_that_is_too_small_is_a_reason_of_answers_only() -> None:
    assert failures.reason_in("maximum context length is 64", "answers") == "context-too-small"
    assert failures.reason_in("maximum context length is 64") is None
