"""`draftmap import`: what do the records of another tool say, as results of this project?"""

import re
from pathlib import Path
from typing import Annotated

import typer

from estimates.summary import summarize, to_json
from harness.cli import console
from harness.errors import BadInputError, UsageError, suggestion
from harness.importers import IMPORTERS
from harness.importers.assemble import About, Imported, assemble
from harness.importers.facts import KEYS, told
from harness.importers.reading import read
from harness.importers.source import Given, arm_and_path, digest, given
from harness.report.terminal import show as show_report
from harness.run import result_file as results
from schemas.submission import Submission

_NO_LICENCE = (
    "No licence: these records may be shared only as their author allows. Look for the licence of "
    "the source, or ask its author, and import again with --licence and --source."
)
_NAME = re.compile(r"[^\x00-\x1f<>]{1,120}")
_HANDLE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?")


@console.reports_errors
def import_(  # noqa: PLR0913 - typer makes an option of every argument
    *,
    files: Annotated[
        list[str],
        typer.Argument(
            help="Files of the other tool. Where each arm has a file of its own, the first is the "
            "baseline; ARM=FILE names the arm, and files of the same arm repeat it."
        ),
    ],
    source_format: Annotated[
        str, typer.Option("--from", metavar="FORMAT", help=f"One of {', '.join(IMPORTERS)}.")
    ],
    facts: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="KEY=VALUE",
            help="A fact that the files do not have; or a TOML file of such. What is missing is "
            "said, all at once. task.NAME=TASK says what a category is, arm.NAME=METHOD what an "
            "arm is, PART/KEY=VALUE holds for one part of the files. May be repeated. "
            f"Keys: {', '.join(KEYS)}.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="A directory, or NAME.json for a single result. Default: here.",
        ),
    ] = None,
    contributor: Annotated[
        str | None, typer.Option(metavar="HANDLE", help="Your handle on the code host.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Who published the records, and where.")
    ] = None,
    licence: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Licence of the records.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result for machines.")] = False,
) -> None:
    """Turn the raw records of another tool into results of the tier `imported`.

    They are never averaged with measured ones. What a file does not say is asked for with `--map`
    where a result cannot be without it, and stays unknown otherwise. What a result cannot hold is
    listed as `left out`: summaries, tests that process a prompt only, counters that contradict one
    another, records without tokens or time. Files may be packed with gzip.

    **inventivehq**: a community file of InventiveHQ's experiment on speculation. Has models, GPU,
    methods, times and counters; lacks the day.

    - `--from inventivehq community.json --map date=2026-06-01`

    **speed-bench**: what llama.cpp's `speed_bench.py --output` saves, a file for each server. Has
    tasks, times, counters, length and sampling; lacks model, machine, method and day.

    - `--from speed-bench off.json on.json --map method=mtp:n_max=3 --map facts.toml`

    **mtp-bench**: its JSON, or the table that it prints. Has rates and counters; lacks the rest,
    unless a runner wrote `gguf`, `spec_flags` and `timestamp` around it.

    - `--from mtp-bench off.json n2=on2.txt n3=on3.txt --map arm.n2=mtp:n_max=2
    --map arm.n3=mtp:n_max=3 --map target=Qwen3.6-27B --map quantisation=Q8_0 --map backend=cuda
    --map gpu="NVIDIA GeForce RTX 3090" --map date=2026-05-17 --map sampling=other`

    **llama-bench**: `-o json` or `-o jsonl`. Has everything but speculation: a baseline only.

    - `--from llama-bench bench.json`

    **vllm**: answers of a server with `--enable-per-request-metrics` (and
    `--per-request-spec-decode-metrics summary`), one a line or as the batch runner writes them; or
    what `vllm bench serve --save-detailed` saves, whose counters are sums and are left out. Lacks
    machine, quantisation, method and sampling.

    - `--from vllm off.jsonl on.jsonl --map method=eagle3:n_max=3 --map quantisation=BF16
    --map target=Qwen3-8B --map backend=cuda --map gpu="NVIDIA L40S" --map sampling=greedy`

    **spec-bench**: the answers of Spec-Bench. Has tasks, rounds and the time of whole requests, the
    prompt included; lacks drafted tokens, model, machine and method.

    - `--from spec-bench vanilla.jsonl medusa=m.jsonl --map arm.medusa=other:name=medusa
    --map target=vicuna-7b-v1.3 --map backend=cuda --map gpu="NVIDIA A100"`

    **qwen38-specdec**: a file of the schema `qwen38-specdec/1`. Has nearly everything; lacks the
    backend. Each tree, temperature and thinking mode becomes a result of its own.

    - `--from qwen38-specdec phase_a.json --map backend=cuda`

    **llama-spec-bench**: the table of ik_llama.cpp's `llama-spec-bench`, or its JSON Lines. Has
    tasks, times and counters; a table lacks the rest, JSON Lines with `--output-details` lack
    machine, quantisation and day.

    - `--from llama-spec-bench base.txt mtp.txt --map n_max=2 --map sampling=greedy
    --map target=Qwen3.8-27B --map quantisation=IQ4_KS --map backend=cuda --map date=2026-08-15
    --map gpu="NVIDIA GeForce RTX 3090"`

    **llama-server**: its log, or its answers with `timings`; each file with the same prompts in
    the same order. Has times and counters; lacks tasks, machine, sampling and day.

    - `--from llama-server off.log on.log --map n_max=2 --map quantisation=Q4_K_M
    --map target=Qwen3.8-27B --map backend=cuda --map gpu="NVIDIA GeForce RTX 3090"
    --map date=2026-08-15 --map sampling=greedy`
    """
    if source_format not in IMPORTERS:
        message = f"--from {source_format}: no such format.{suggestion(source_format, IMPORTERS)}"
        raise UsageError(message)
    given_files = [_given(name) for name in files]
    about = About(
        format=source_format,
        sha256=digest(given_files),
        source=_checked("--source", source, _NAME),
        licence=_checked("--licence", licence, _NAME),
        contributor=_checked("--contributor", contributor, _HANDLE),
    )
    done = assemble(read(source_format, given_files), told(facts or ()), about)
    _report(done, _written(done.submissions, output), as_json=json)


def _given(argument: str) -> Given:
    if Path(argument).exists():
        return given(Path(argument))
    arm, path = arm_and_path(argument)
    return given(Path(path), arm)


def _checked(option: str, value: str | None, form: re.Pattern[str]) -> str | None:
    if value is not None and not form.fullmatch(value):
        wanted = "letters, digits and inner hyphens" if form is _HANDLE else "one line without < >"
        message = f"{option} {value!r} has the wrong form; expected {wanted}"
        raise UsageError(message)
    return value


def _written(submissions: tuple[Submission, ...], output: Path | None) -> list[Path]:
    is_file = output is not None and output.suffix == ".json" and not output.is_dir()
    if is_file and len(submissions) > 1:
        message = f"{len(submissions)} results do not fit into {output}; give a directory"
        raise BadInputError(message)
    results.require_free(output)
    results.require_writable(output)
    return [results.write(each, output) for each in submissions]


def _report(done: Imported, paths: list[Path], *, as_json: bool) -> None:
    for line in done.left_out:
        console.say(f"left out: {line}")
    if any(each.origin and each.origin.licence is None for each in done.submissions):
        console.say(_NO_LICENCE)
    summaries = [summarize(each) for each in done.submissions]
    if as_json:
        entries = [
            {"file": str(path), "summary": to_json(summary)}
            for path, summary in zip(paths, summaries, strict=True)
        ]
        console.print_json({"results": [*entries], "left_out": [*done.left_out]})
    for submission, summary, path in zip(done.submissions, summaries, paths, strict=True):
        if not as_json:
            show_report(submission, summary, console.result_console())
        console.say(f"Result: {path}")
