"""Does a GGUF header become facts, and a broken file one clear line?"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from harness import gguf_header, vocabulary
from harness.errors import BadInputError
from tests.harness.ggufs import TOKENS, write_gguf

if TYPE_CHECKING:
    from pathlib import Path


def test_the_header_says_what_the_file_is(tmp_path: Path) -> None:
    header = gguf_header.read(write_gguf(tmp_path / "m.gguf"))

    assert header.architecture == "llama"
    assert header.quantisation == "F16"
    assert header.parameters == header.active_parameters == 4096
    assert header.layers == 2
    assert header.vocabulary.size == 300
    assert header.file_bytes == (tmp_path / "m.gguf").stat().st_size


def test_of_a_mixture_of_experts_only_chosen_experts_are_active(tmp_path: Path) -> None:
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
    spm = gguf_header.read(write_gguf(tmp_path / "spm.gguf", kind="llama", add_bos=None))
    bpe = gguf_header.read(write_gguf(tmp_path / "bpe.gguf", kind="gpt2", add_bos=None))

    assert spm.vocabulary.add_bos
    assert not bpe.vocabulary.add_bos


@pytest.mark.parametrize("kept", [0, 3, 40, 4000, -40])
def test_a_file_that_is_cut_off_is_said_to_be(tmp_path: Path, kept: int) -> None:
    path = write_gguf(tmp_path / "m.gguf")
    path.write_bytes(path.read_bytes()[:kept])

    with pytest.raises(BadInputError, match=r"m\.gguf is (broken, )?cut off.*download it again"):
        gguf_header.read(path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"PK\x03\x04" + bytes(1000))

    with pytest.raises(BadInputError, match="no GGUF file"):
        gguf_header.read(path)


def test_a_missing_part_of_a_split_model_is_named(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "big-00001-of-00002.gguf")

    with pytest.raises(BadInputError, match=r"big-00002-of-00002\.gguf is missing"):
        gguf_header.read(path)


def test_parts_of_a_split_model_add_up(tmp_path: Path) -> None:
    first = write_gguf(tmp_path / "big-00001-of-00002.gguf")
    second = write_gguf(tmp_path / "big-00002-of-00002.gguf")

    header = gguf_header.read(first)

    assert header.parameters == 8192
    assert header.file_bytes == first.stat().st_size + second.stat().st_size


def mismatch(target: Path, draft: Path) -> str | None:
    return vocabulary.mismatch(
        gguf_header.read(target).vocabulary,
        gguf_header.read(draft).vocabulary,
        target_tokens=lambda: gguf_header.tokens(target),
        draft_tokens=lambda: gguf_header.tokens(draft),
    )


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "target.gguf")


def test_the_same_vocabulary_fits(tmp_path: Path, target: Path) -> None:
    assert mismatch(target, write_gguf(tmp_path / "d.gguf")) is None


def test_a_vocabulary_that_differs_by_128_tokens_fits_and_by_129_does_not(
    tmp_path: Path, target: Path
) -> None:
    fits = write_gguf(tmp_path / "a.gguf", tokens=TOKENS[:-128])
    does_not = write_gguf(tmp_path / "b.gguf", tokens=TOKENS[:-129])

    assert mismatch(target, fits) is None
    said = mismatch(target, does_not)
    assert said == "the target knows 300 tokens and the draft 171; they may differ by 128"


def test_the_first_five_tokens_may_differ_and_the_sixth_may_not(
    tmp_path: Path, target: Path
) -> None:
    fits = write_gguf(tmp_path / "a.gguf", tokens=("x", "x1", "x2", "x3", "x4", *TOKENS[5:]))
    does_not = write_gguf(tmp_path / "b.gguf", tokens=(*TOKENS[:5], "other", *TOKENS[6:]))

    assert mismatch(target, fits) is None
    assert mismatch(target, does_not) == "token 5 is 't5' in the target and 'other' in the draft"


def test_another_kind_of_vocabulary_does_not_fit(tmp_path: Path, target: Path) -> None:
    said = mismatch(target, write_gguf(tmp_path / "d.gguf", kind="llama"))

    assert said == "the target's vocabulary is of the kind 'gpt2', the draft's 'llama'"


def test_bos_must_agree_only_where_it_is_added(tmp_path: Path, target: Path) -> None:
    other_id = write_gguf(tmp_path / "a.gguf", bos=7)
    adds = write_gguf(tmp_path / "b.gguf", add_bos=True)
    adds_other = write_gguf(tmp_path / "c.gguf", add_bos=True, bos=7)

    assert mismatch(target, other_id) is None
    assert mismatch(target, adds) == "the target does not add BOS, the draft does the opposite"
    assert mismatch(adds, adds_other) == "BOS is token 1 in the target and 7 in the draft"
