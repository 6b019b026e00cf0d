"""A GGUF header becomes facts, and a broken file one clear line."""

import hashlib
from pathlib import Path

import pytest

from harness.errors import BadInputError
from harness.models import gguf_header
from harness.models.compatibility import compare_files as compare
from tests.harness.ggufs import TOKENS, write_gguf


def test_the_header_says_what_the_file_is(tmp_path: Path) -> None:
    header = gguf_header.read(write_gguf(tmp_path / "m.gguf"))

    assert header.architecture == "llama"
    assert header.quantisation == "F16"
    assert header.parameters == header.active_parameters == 4096
    assert header.layers == 2
    assert header.vocabulary.size == 300
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
    spm = gguf_header.read(write_gguf(tmp_path / "spm.gguf", kind="llama", add_bos=None))
    bpe = gguf_header.read(write_gguf(tmp_path / "bpe.gguf", kind="gpt2", add_bos=None))

    assert spm.vocabulary.add_bos
    assert not bpe.vocabulary.add_bos


@pytest.mark.parametrize("kept", [4, 40, 4000, -40])
def test_a_truncated_file_is_reported_as_truncated(tmp_path: Path, kept: int) -> None:
    path = write_gguf(tmp_path / "m.gguf")
    path.write_bytes(path.read_bytes()[:kept])

    with pytest.raises(BadInputError, match=r"m\.gguf is cut off.*download it again"):
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


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return write_gguf(tmp_path / "target.gguf")


def test_the_same_vocabulary_fits_in_every_point(tmp_path: Path, target: Path) -> None:
    compared = compare(target, write_gguf(tmp_path / "d.gguf"))

    assert compared.fits
    assert compared.reason is None
    assert [point.found for point in compared.points] == [
        "both vocabularies are BPE",
        "neither model adds BOS",
        "neither model adds EOS",
        "both vocabularies have 300 tokens; the sizes may differ by 128",
        "tokens 5 to 299 have the same texts in both vocabularies",
    ]


def test_a_vocabulary_that_differs_by_128_tokens_fits_and_by_129_does_not(
    tmp_path: Path, target: Path
) -> None:
    fits = compare(target, write_gguf(tmp_path / "a.gguf", tokens=TOKENS[:-128]))
    does_not = compare(target, write_gguf(tmp_path / "b.gguf", tokens=TOKENS[:-129]))

    assert fits.fits
    said = "the target's vocabulary has 300 tokens, the draft's 171; the sizes may differ by 128"
    assert does_not.reason == said


def test_the_first_five_tokens_may_differ_and_the_sixth_may_not(
    tmp_path: Path, target: Path
) -> None:
    fits = write_gguf(tmp_path / "a.gguf", tokens=("x", "x1", "x2", "x3", "x4", *TOKENS[5:]))
    does_not = write_gguf(tmp_path / "b.gguf", tokens=(*TOKENS[:5], "other", *TOKENS[6:]))

    assert compare(target, fits).fits
    compared = compare(target, does_not)
    assert compared.reason == "token 5 is 't5' in the target and 'other' in the draft"
    assert compared.differing == 1


def test_all_differing_ids_are_counted_and_the_first_three_shown(
    tmp_path: Path, target: Path
) -> None:
    shifted = write_gguf(tmp_path / "d.gguf", tokens=(*TOKENS[:8], "new", *TOKENS[8:-1]))

    compared = compare(target, shifted)

    assert compared.differing == 292  # ids 8 to 299
    assert [(d.token, d.target, d.draft) for d in compared.differences] == [
        (8, "t8", "new"),
        (9, "t9", "t8"),
        (10, "t10", "t9"),
    ]


def test_an_empty_token_is_named_by_its_id_as_llama_cpp_does(tmp_path: Path) -> None:
    empty = write_gguf(tmp_path / "a.gguf", tokens=(*TOKENS[:9], "", *TOKENS[10:]))
    named = write_gguf(tmp_path / "b.gguf", tokens=(*TOKENS[:9], "[EMPTY_9]", *TOKENS[10:]))

    assert compare(empty, named).fits


def test_texts_are_compared_up_to_a_zero_byte_as_strcmp_does(tmp_path: Path) -> None:
    one = write_gguf(tmp_path / "a.gguf", tokens=(*TOKENS[:9], "a\0b", *TOKENS[10:]))
    other = write_gguf(tmp_path / "b.gguf", tokens=(*TOKENS[:9], "a\0c", *TOKENS[10:]))

    assert compare(one, other).fits


def test_another_kind_of_vocabulary_does_not_fit(tmp_path: Path, target: Path) -> None:
    compared = compare(target, write_gguf(tmp_path / "d.gguf", kind="llama", add_bos=False))

    assert compared.reason == "the target's vocabulary is BPE, the draft's SPM"
    assert [point.holds for point in compared.points] == [False, True, True, True, True]


def test_two_tokenizers_of_one_kind_fit(tmp_path: Path, target: Path) -> None:
    assert compare(target, write_gguf(tmp_path / "d.gguf", kind="whitespace")).fits


def test_bos_must_agree_only_where_it_is_added(tmp_path: Path, target: Path) -> None:
    other_id = write_gguf(tmp_path / "a.gguf", bos=7)
    adds = write_gguf(tmp_path / "b.gguf", add_bos=True)
    adds_other = write_gguf(tmp_path / "c.gguf", add_bos=True, bos=7)

    assert compare(target, other_id).fits
    said = "the target does not add BOS, unlike the draft"
    assert compare(target, adds).reason == said
    assert compare(adds, adds_other).reason == "BOS is token 1 in the target and 7 in the draft"


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
