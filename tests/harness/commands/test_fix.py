"""`fix` repairs faults outside measurements, after announcing them, and refuses the rest."""

import io
import json
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from harness.cli import app
from harness.commands.fix import fix as command
from schemas.contract import findings
from schemas.repairs import Repaired, measured_values, repaired
from tests.nightly import few
from tests.samples import sample, sample_bytes

DATA = sample_bytes(sample(tasks=("code",), blocks=1))
NAME = "nvidia-geforce-rtx-4060--sample-7b-q4-k-m--20261121-"
Document = dict[str, Any]


def fix(*words: str) -> Result:
    return CliRunner().invoke(app, ["fix", *words])


def named(document: Document, at: str, text: str) -> None:
    """Set a text of a document: of its model, card, engine or processor."""
    places = {
        "target": document["target"],
        "card": document["machine"]["gpus"][0],
        "cpu": document["machine"]["cpu"],
        "engine": document["engine"],
    }
    places[at]["name"] = text


def shuffled(document: Any, seed: int) -> Any:  # noqa: ANN401 - JSON of any shape
    """The same document with its keys in another order."""
    if isinstance(document, dict):
        keys = random.Random(seed).sample(list(document), len(document))  # noqa: S311 - an order
        return {key: shuffled(document[key], seed) for key in keys}
    return [shuffled(each, seed) for each in document] if isinstance(document, list) else document


def with_keys_in_order(seed: int) -> bytes:
    return json.dumps(shuffled(json.loads(DATA), seed)).encode()


def with_name(at: str, text: str) -> bytes:
    document = json.loads(DATA)
    named(document, at, text)
    return json.dumps(document, ensure_ascii=False).encode()


BLANKS = ("\u00a0", "\u2009", "\u3000", "  ", " \t ", "\u202f")
UNSEEN = ("\u200b", "\ufeff", "\u00ad", "\u2060", "\ufe0f", "\u3164", "\u034f")
HARMLESS: dict[str, bytes] = {
    **{f"keys in order {seed}": with_keys_in_order(seed) for seed in range(8)},
    **{f"indented by {n}": json.dumps(json.loads(DATA), indent=n).encode() for n in (0, 1, 2, 4)},
    "a mark of UTF-8": b"\xef\xbb\xbf" + DATA,
    "UTF-16, as PowerShell writes it": DATA.decode().encode("utf-16"),
    "lines of Windows": json.dumps(json.loads(DATA), indent=1).replace("\n", "\r\n").encode(),
    "blank lines at the end": DATA + b"\n\n",
    "no line at the end": DATA.rstrip(),
    "version 1": DATA.replace(b'"version":2', b'"version":1'),
    "escaped letters": json.dumps(json.loads(DATA)).replace("Sample", "\\u0053ample").encode(),
    "more decimals than a file has": re.sub(
        rb'("decode_ms":\d+\.\d{6})(?=\D)', rb"\g<1>4", DATA, count=1
    ),
    "a whole number with a point": DATA.replace(b'"output_tokens":41', b'"output_tokens":41.0', 1),
    "a whole number with an exponent": DATA.replace(b'"version":2', b'"version":20e-1'),
    "a backend in capitals": DATA.replace(b'"backend":"cuda"', b'"backend":" CUDA"'),
    "a digest in capitals": DATA.replace(b"d1d1d1", b"D1D1D1"),
    "spaces around the contributor": DATA.replace(b'"ada"', b'" ada "'),
    **{
        f"U+{ord(blank[0]):04X} in the {at}": with_name(at, f"Sample{blank}7B")
        for blank in BLANKS
        for at in ("target", "card", "cpu")
    },
    **{
        f"U+{ord(letter):04X} in the {at}": with_name(at, f" Sam{letter}ple 7B")
        for letter in UNSEEN
        for at in ("target", "card")
    },
    "letters in two parts": with_name("cpu", "Cafe\u0301 7B"),
    **{
        f"{spelling} as the model": with_name("target", spelling)
        for spelling in ("qwen-3.6-27b", "Qwen 3.6 27B", "qwen_3.6_27b", "gemma-4-12b-it")
    },
}  # fmt: skip


def test_fifty_harmless_faults_are_tried() -> None:
    assert len(HARMLESS) >= 50


@pytest.mark.parametrize("fault", few(HARMLESS, 20))
def test_a_harmless_fault_is_repaired_and_no_measured_value_changes(fault: str) -> None:
    found = repaired(HARMLESS[fault])

    assert HARMLESS[fault] != DATA
    assert isinstance(found, Repaired), found
    assert findings(found.data) == ()
    assert measured_values(json.loads(found.data)) == measured_values(json.loads(DATA))
    assert repaired(found.data) == Repaired(
        data=found.data, submission=found.submission, repairs=(), digest=found.digest
    )


def changed(change: Callable[[Document], object]) -> bytes:
    document = json.loads(DATA)
    change(document)
    return json.dumps(document, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    ("data", "path", "says"),
    [
        (b"{", "$", "not JSON"),
        (b"GGUF", "$", "this is a model, not a result file"),
        (changed(lambda d: d["trials"][0].update(block=-1)), "$.trials[0].block", "is too small"),
        (changed(lambda d: d["trials"][0].update(accepted=999)), "$.trials[0].accepted", ""),
        (
            changed(lambda d: d["engine"].update(backend="QUDA")),
            "$.engine.backend",
            '"QUDA" is not',
        ),
        (changed(lambda d: d["trials"][0].update(block=0.5)), "$.trials[0].block", "0.5 has the"),
        (changed(lambda d: d["target"].update(colour="red")), "$.target", "colour"),
        (changed(lambda d: d.update(version=9)), "$.version", "9"),
        (changed(lambda d: d["target"].update(name="\u200b")), "$.target.name", ""),
        (
            changed(lambda d: d["trials"][0].update(output_sha256="\u200b" + "a" * 16)),
            "$.trials[0].output_sha256",
            "a repair would change the measurements; measure or import the result again",
        ),
    ],
)
def test_unrepairable_faults_are_listed_and_the_file_is_unchanged(
    data: bytes, path: str, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "r.json"
    file.write_bytes(data)

    done = fix(str(file), "--write")

    assert done.exit_code == 1
    assert done.stdout.startswith(f"{file}: {path}"), done.stdout
    assert says in done.stdout
    assert "Nothing was changed" in done.stderr
    assert [*tmp_path.iterdir()] == [file]
    assert file.read_bytes() == data


def test_repairs_are_shown_first_and_made_with_write(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(with_name("target", "Sample\u00a07B"))

    shown, written = fix(str(file)), fix(str(file), "--write")

    assert (shown.exit_code, written.exit_code) == (1, 0)
    assert shown.stdout == written.stdout
    (renamed,) = tmp_path.iterdir()
    assert renamed.name.startswith(NAME)
    assert shown.stdout.splitlines() == [
        f'{file}: $.target.name: "Sample\\u00a07B" becomes "Sample 7B" [repair]',
        (
            f"{file}: $: is written in canonical form: UTF-8, sorted keys, no spaces, "
            "one newline at the end [repair]"
        ),
        f"{file}: $: is named {renamed.name} [repair]",
    ]
    again = fix(str(renamed))
    assert (again.exit_code, again.stdout, again.stderr) == (0, "", "Nothing to repair.\n")


def test_a_whole_number_is_written_as_the_format_has_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(DATA.replace(b'"output_tokens":41', b'"output_tokens":41.0', 1))

    assert f"{file}: $.trials[0].output_tokens: 41.0 becomes 41 [repair]\n" in fix(str(file)).stdout


def test_one_file_that_cannot_be_repaired_keeps_all_as_they_are(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_bytes(b"\xef\xbb\xbf" + DATA)
    bad.write_bytes(b"{}")

    done = fix(str(good), str(bad), "--write", "--json")

    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert found["written"] is False
    assert [each["file"] for each in found["findings"]][:1] == [str(bad)]
    assert {each["file"] for each in found["repairs"]} == {str(good)}
    assert good.read_bytes().startswith(b"\xef\xbb\xbf")


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    done = fix(str(tmp_path / "none.json"))

    assert done.exit_code == 2
    assert "check the path" in done.stderr


def test_another_spelling_of_a_known_model_becomes_its_one_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(with_name("target", "Qwen 3.6 27B"))

    shown = fix(str(file))

    line = f'{file}: $.target.name: "Qwen 3.6 27B" becomes "Qwen3.6-27B" [repair]'
    assert line in shown.stdout.splitlines()


class Terminal(io.StringIO):
    """A terminal with typed input."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "code"), [("y\n", None), ("n\n", 1)])
def test_in_a_terminal_the_repairs_are_made_after_a_yes(
    answer: str, code: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(b"\xef\xbb\xbf" + DATA)
    monkeypatch.setattr(sys, "stdin", Terminal(answer))

    ended = None
    try:
        command(files=[file])
    except typer.Exit as end:
        ended = end.exit_code

    assert ended == code
    assert file.exists() is (code == 1)
    assert [path.read_bytes().startswith(b"\xef") for path in tmp_path.iterdir()] == [code == 1]


def test_a_file_that_is_named_twice_is_repaired_once(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(b"\xef\xbb\xbf" + DATA)

    done = fix(str(file), str(file), "--write")

    assert (done.exit_code, done.stderr) == (0, "")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [DATA]


def test_no_data_is_lost_if_a_link_shows_the_file_under_another_name(tmp_path: Path) -> None:
    name = re.findall(r"is named (.*) \[", fix(str(written_as(tmp_path / "a.json"))).stdout)[0]
    (tmp_path / "a.json").rename(tmp_path / name)
    link = tmp_path / "link.json"
    link.symlink_to(name)

    done = fix(str(link), "--write")

    assert done.exit_code == 0
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, DATA)]


def written_as(path: Path) -> Path:
    path.write_bytes(b"\xef\xbb\xbf" + DATA)
    return path
