"""The same content is the same bytes under the same name."""

import json

import pytest

from schemas import strict
from schemas.codec import FILE_NAME, canonical_bytes, content_digest, file_name, slug
from tests.samples import sample, sample_bytes


def test_keys_are_sorted_and_nothing_is_padded() -> None:
    assert canonical_bytes({"b": [1, 2], "a": {"d": True, "c": "x"}}) == (
        b'{"a":{"c":"x","d":true},"b":[1,2]}\n'
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.1 + 0.2, b"0.3\n"),
        (20.0, b"20.0\n"),
        (20, b"20\n"),
        (1 / 3, b"0.333333\n"),
        (2.0000004, b"2.0\n"),
        (-0.0, b"0.0\n"),
        (-0.0000001, b"0.0\n"),
        (123456789.123456789, b"123456789.123457\n"),
    ],
)
def test_a_float_has_at_most_six_decimals_and_stays_a_float(number: float, text: bytes) -> None:
    assert canonical_bytes(number) == text


def test_letters_beyond_ascii_are_written_as_they_are() -> None:
    assert canonical_bytes({"name": "caf\u00e9"}) == '{"name":"caf\u00e9"}\n'.encode()


def test_the_order_of_keys_and_the_spacing_of_a_file_do_not_matter() -> None:
    data = sample_bytes(sample(tasks=("code",), prompts_per_task=1, blocks=1))
    shuffled = dict(reversed(json.loads(data).items()))

    again = canonical_bytes(json.loads(json.dumps(shuffled, indent=4)))

    assert again == data


def test_canonical_bytes_are_unchanged() -> None:
    data = sample_bytes(sample())

    assert canonical_bytes(strict.load(data)) == data  # type: ignore[arg-type]  # no findings here


def test_the_digest_is_the_beginning_of_the_sha256() -> None:
    # printf '{}\n' | sha256sum
    assert content_digest(b"{}\n") == "ca3d163b"


def test_a_file_is_named_after_machine_target_day_and_content() -> None:
    name = file_name(
        machine="NVIDIA GeForce RTX 4060",
        target="Qwen3-14B Q4_K_M",
        measured_from="2026-11-21T09:00:00Z",
        data=b"{}\n",
    )

    assert name == "nvidia-geforce-rtx-4060--qwen3-14b-q4-k-m--20261121-ca3d163b.json"
    assert FILE_NAME.fullmatch(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AMD Ryzen 7 7845HS w/ Radeon", "amd-ryzen-7-7845hs-w-radeon"),
        ("RTX\N{TRADE MARK SIGN} 4060 \N{EN DASH} 2 \N{MULTIPLICATION SIGN}", "rtx-4060-2-x"),
        # the first eight digits of: printf 'Caf\u00e9 \u6f22' | md5sum
        ("Caf\u00e9 \u6f22", "cafe-a2f4a24d"),
        ("\u6f22", "unnamed-46123efd"),
        ("", "unnamed-d41d8cd9"),
        ("a" * 31 + "\u6f22", "a" * 23 + "-f3a1a8bd"),
        ("../../etc/passwd", "etc-passwd"),
        ("a" * 31 + " b", "a" * 31),
        ("CON", "con"),
    ],
)
def test_a_slug_is_plain_ascii(text: str, expected: str) -> None:
    assert slug(text) == expected
