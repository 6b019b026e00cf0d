"""draftbench by Alex Ziskind (MIT): pairs of target and draft on an Apple M4 Max.

The folder is a copy of the repository's `results`. Each file is a sweep of one size of Qwen2.5:
every quantisation without a draft, then with each draft. A pair is compared with the baseline of
its target in the same file.
"""

from collections.abc import Iterator
from pathlib import Path

from tools.sources.transcription import Json, dense, described, documents, figure, main, stated

DIGEST = "30ec132fe7411e0c65ea22ba13a5f752ffc65c14f977e3e339b20410cb944f66"
RIG = "apple-m4-max-128gb"
# The source does not set these two options; the values were llama-server's defaults in the month of
# the run.
DEFAULTS = {"n_max": 16, "p_min": 0.75}


def transcribe(folder: Path) -> Json:
    """Transcribe every baseline and every pair of the four sweeps."""
    found = documents(folder, "results/*.json", DIGEST)
    return described(__file__, [row for path, sweep in found.items() for row in _rows(path, sweep)])


def _rows(path: str, sweep: Json) -> Iterator[Json]:
    """The rows of one file, each baseline before its pairs."""
    for record in sorted(sweep["results"], key=lambda each: each["draft"] is not None):
        yield _row(path, sweep, record)


def _row(path: str, sweep: Json, record: Json) -> Json:
    target, draft = record["target"], record["draft"]
    acceptance = record["acceptance_rate"]
    return stated(
        id=_name("base", target) if draft is None else _name("pair", target, "with", draft),
        place=f"{path}, {target}" + (f" with {draft}" if draft else ", no draft"),
        kind="baseline" if draft is None else "speculation",
        rig=RIG,
        engine={"name": "llama.cpp", "backend": "metal"},
        target=_model(target),
        draft=None if draft is None else _model(draft),
        method="none" if draft is None else "draft-model",
        **({} if draft is None else DEFAULTS),
        settings={
            "context_tokens": sweep["settings"]["ctx_size"],
            "max_output_tokens": sweep["settings"]["max_tokens"],
            "temperature": sweep["settings"]["temperature"],
            "prompts": 3,
        },
        baseline_row=None if draft is None else _name("base", target),
        figures=[
            figure("decode_tps", record["mean_tps"]),
            *([] if acceptance is None else [figure("acceptance_rate", acceptance)]),
        ],
    )


def _name(*words: str) -> str:
    return "-".join(words).lower().replace(" ", "-").replace(".", "-").replace("_", "-")


def _model(label: str) -> Json:
    """Read a model from its label: `7B Q4_K_M` is Qwen2.5-7B-Instruct as Q4_K_M."""
    size, quantisation = label.split()
    return dense(
        f"Qwen2.5-{size}-Instruct",
        quantisation.replace("FP16", "F16"),
        float(size.removesuffix("B")),
    )


if __name__ == "__main__":
    main(transcribe)
