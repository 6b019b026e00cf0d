"""A GGUF header becomes facts, and a broken file one clear line."""

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from harness.errors import BadInputError
from harness.models import gguf_header
from harness.models.compatibility import difference
from tests.harness.ggufs import TOKENS, write_gguf


def test_the_header_says_what_the_file_is(tmp_path: Path) -> None:
    header = gguf_header.read(write_gguf(tmp_path / "m.gguf"))

    assert header.architecture == "llama"
    assert header.quantisation == "F16"
    assert (header.parameters, header.active_parameters) == (4096, None)
    assert header.layers == 2
    assert header.vocabulary_size == 300
    assert header.file_bytes == (tmp_path / "m.gguf").stat().st_size


def test_only_chosen_experts_of_a_mixture_are_active(tmp_path: Path) -> None:
    header = gguf_header.read(write_gguf(tmp_path / "m.gguf", experts=(8, 2)))

    assert header.parameters == 4096 + 80
    assert header.active_parameters == 4096 + 20


def test_without_a_file_type_the_most_common_type_counts(tmp_path: Path) -> None:
    header = gguf_header.read(write_gguf(tmp_path / "m.gguf", file_type=None))

    assert header.quantisation == "F16"


def test_the_tokenizer_digest_covers_lengths_and_texts() -> None:
    expected = hashlib.sha256(b"\x02\x00\x00\x00ab\x00\x00\x00\x00").hexdigest()

    assert gguf_header.tokenizer_sha256([b"ab", b""]) == expected


def test_missing_flags_are_assumed_as_llama_cpp_does(tmp_path: Path) -> None:
    paths = [
        write_gguf(tmp_path / f"{kind}.gguf", kind=kind, add_bos=None) for kind in ("llama", "gpt2")
    ]

    adds = [gguf_header.vocabulary_and_tokens(path)[0].add_bos for path in paths]

    assert adds == [True, False]


@pytest.mark.parametrize("kept", [4, 40, 4000, -40])
def test_a_truncated_file_is_reported_as_truncated(tmp_path: Path, kept: int) -> None:
    path = write_gguf(tmp_path / "m.gguf")
    path.write_bytes(path.read_bytes()[:kept])

    with pytest.raises(BadInputError, match=r"m\.gguf is cut off.*download it again"):
        gguf_header.read(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "m.gguf is empty; download it again"),
        (b"PK\x03\x04rest", "m.gguf is not a GGUF file: it is a zip archive; unpack it"),
        (b"version https://git-lfs.github.com/spec/v1\n", "it is a Git LFS pointer"),
        (b"<!DOCTYPE html>", "it is a web page; download the file itself"),
        (b"\x00" * 100, "it does not start with GGUF; download it again"),
        (b"GGUF\x03\0\0\0", "its header does not end"),
        (b"GGUF\x09\0\0\0" + bytes(40), "broken header (version 9 of the format)"),
        (b"GGUF\x03\0\0\0" + b"\xff" * 64, "broken header"),
    ],
)
def test_a_file_of_another_kind_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)

    with pytest.raises(BadInputError, match=re.escape(said)):
        gguf_header.read(path)


def test_a_file_without_a_tokenizer_is_reported(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", tokens=None)

    with pytest.raises(BadInputError, match=r"m\.gguf has no tokenizer"):
        gguf_header.vocabulary_and_tokens(path)[0]


def test_a_vocabulary_needs_no_weights_but_a_model_does(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", weights=False)

    assert gguf_header.vocabulary_and_tokens(path)[0].size == 300
    with pytest.raises(BadInputError, match=r"m\.gguf has no weights"):
        gguf_header.read(path)


def test_a_renamed_part_of_a_split_model_gets_the_expected_names(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", split=(1, 3))

    with pytest.raises(
        BadInputError, match=r"part 2 of 3 of a model; .* NAME-00001-of-00003\.gguf"
    ):
        gguf_header.read(path)


def test_any_part_of_a_split_model_leads_to_its_tokens(tmp_path: Path) -> None:
    write_gguf(tmp_path / "big-00001-of-00002.gguf", weights=False, split=(0, 2))
    second = write_gguf(tmp_path / "big-00002-of-00002.gguf", tokens=None, split=(1, 2))

    assert gguf_header.read(second).parameters == 4096
    assert gguf_header.vocabulary_and_tokens(second)[1][7] == b"t7"


def test_parts_of_a_split_model_add_up(tmp_path: Path) -> None:
    first = write_gguf(tmp_path / "big-00001-of-00002.gguf")
    second = write_gguf(tmp_path / "big-00002-of-00002.gguf")

    header = gguf_header.read(first)

    assert header.parameters == 8192
    assert header.file_bytes == first.stat().st_size + second.stat().st_size


def changed(at: int, text: str) -> tuple[str, ...]:
    return (*TOKENS[:at], text, *TOKENS[at + 1 :])


@pytest.mark.parametrize(
    ("target", "draft", "reason"),
    [
        ({}, {}, None),
        ({}, {"tokens": TOKENS[:-128]}, None),
        (
            {},
            {"tokens": TOKENS[:-129]},
            "the target's vocabulary has 300 tokens, the draft's 171; the sizes may differ by 128",
        ),
        ({}, {"tokens": ("x", "x1", "x2", "x3", "x4", *TOKENS[5:])}, None),
        (
            {},
            {"tokens": changed(5, "other")},
            "token 5 is 't5' in the target and 'other' in the draft",
        ),
        # llama.cpp names an empty token by its id, and compares texts with `strcmp`.
        ({"tokens": changed(9, "")}, {"tokens": changed(9, "[EMPTY_9]")}, None),
        ({"tokens": changed(9, "a\0b")}, {"tokens": changed(9, "a\0c")}, None),
        ({}, {"kind": "whitespace"}, None),
        (
            {},
            {"kind": "llama", "add_bos": False},
            "the target's vocabulary is BPE, the draft's SPM",
        ),
        ({}, {"bos": 7}, None),
        ({}, {"add_bos": True}, "the target does not add BOS, unlike the draft"),
        (
            {"add_bos": True},
            {"add_bos": True, "bos": 7},
            "BOS is token 1 in the target and 7 in the draft",
        ),
    ],
)
def test_the_first_difference_that_llama_cpp_does_not_allow_is_the_reason(
    tmp_path: Path, target: dict[str, Any], draft: dict[str, Any], reason: str | None
) -> None:
    paths = [
        write_gguf(tmp_path / f"{name}.gguf", **made)
        for name, made in (("target", target), ("draft", draft))
    ]

    assert difference(*paths) == reason


def test_a_bos_that_the_vocabulary_does_not_have_is_replaced_as_llama_cpp_does(
    tmp_path: Path,
) -> None:
    beyond = gguf_header.vocabulary_and_tokens(write_gguf(tmp_path / "a.gguf", bos=300))[0]

    assert beyond.bos == 11  # what BPE has where a file names none


@pytest.mark.parametrize(
    ("pre", "adds_bos", "bos"),
    [("llama-bpe", True, 11), ("qwen2", False, 11), ("glm4", False, None), ("tekken", True, 11)],
)
def test_the_pre_tokenizer_decides_about_bos_if_the_file_does_not(
    tmp_path: Path, pre: str, bos: int | None, *, adds_bos: bool
) -> None:
    path = write_gguf(tmp_path / "m.gguf", pre=pre, bos=None, add_bos=None)

    found = gguf_header.vocabulary_and_tokens(path)[0]

    assert (found.add_bos, found.bos) == (adds_bos, bos)


def test_gemma_4_adds_bos_whatever_the_file_says(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "m.gguf", kind="gemma4", add_bos=False)

    assert gguf_header.vocabulary_and_tokens(path)[0].add_bos
