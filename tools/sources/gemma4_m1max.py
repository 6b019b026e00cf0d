"""An Apple M1 Max measured by Sunwood-ai-labs (Apache-2.0): DFlash (MLX), Gemma 4 MTP (LiteRT-LM).

The folder is a copy of the repository's tables. DFlash's tokens are counted. LiteRT-LM's tokens are
estimated from the length of the text, so its rates are marked as approximate and excluded from
comparisons.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.sources.transcription import Json, Line, compared, dense, described, figure, lines, main

DIGEST = "8bda411dc8603917f8ceae8f59bd8894123e0d4a8e3792ea22a0bbb3a1b10c25"
RIG = "apple-m1-max-64gb"
MLX = {"name": "MLX", "backend": "metal"}
LITERT = {"name": "LiteRT-LM", "version": "0.11.0.dev20260422"}
QWEN = dense("Qwen3.5-4B", "BF16", 4)
GEMMA = dense("Gemma 4 31B", "4-bit", 31)
DRAFTS = {"Qwen3.5-4B": "Qwen3.5-4B-DFlash", "Gemma 4 31B": "gemma-4-31B-it-DFlash"}
# The block consists of the known token and fifteen drafted tokens.
DEPTH = 15
TASKS = {"math_step": "math", "json_structured": "json", "creative_open": "creative"}
TASKS |= {"summarize": "summarization", "json": "json", "translation": "translation"}
TASKS |= {"creative": "creative", "coding": "code"}
# Files of single prompts: the token limit of an answer, and a note on the run.
CASES = {
    "2026-05-06-dflash-contrast-m1-max.md": (256, "One prompt, run once."),
    "2026-05-07-dflash-coding-cases-m1-max.md": (320, "One prompt, run once."),
    "2026-05-07-dflash-success-rerun-m1-max.md": (
        256,
        "One prompt, run once, on a machine that was slower by 37 to 49 % than the day before.",
    ),
}
# The tables with one metric per line, in file order: target, task, prompts, tokens.
SMOKES: tuple[tuple[Json, str | None, Json], ...] = (
    (QWEN, "math", {"prompts": 8, "max_output_tokens": 128}),
    (GEMMA, None, {"prompts": 4, "max_output_tokens": 128, "thinking": True}),
    (GEMMA, "chat", {"prompts": 2, "max_output_tokens": 512, "thinking": True}),
    (QWEN, "chat", {"prompts": 4, "max_output_tokens": 512}),
)
SMOKE_FILE = "2026-05-06-dflash-mlx-m1-max.md"
MATRIX_FILE = "2026-05-06-task-matrix-m1-max.md"


def transcribe(folder: Path) -> Json:
    """Transcribe every pair of the tables; pairs with estimated tokens are marked."""
    found = list(lines(folder, "benchmarks/*.md", DIGEST))
    return described(__file__, [*_cases(found), *_smokes(found), *_matrix(found)])


def _cases(found: Iterable[Line]) -> Iterator[Json]:
    """Yield a pair of rows for each line about a single prompt with Qwen3.5-4B."""
    for line in found:
        path = Path(line.path)
        if path.name not in CASES or "case" not in line.cells:
            continue
        limit, note = CASES[path.name]
        case = line.cells["case"]
        columns = {"plain": "baseline tok/s", "dflash": "DFlash tok/s", "length": "mean accepted"}
        yield from _dflash(
            f"{path.stem.removesuffix('-m1-max')}-{case.replace('_', '-')}",
            {name: (line.place(column), line.cells[column]) for name, column in columns.items()},
            QWEN,
            TASKS.get(case, "code"),
            {"prompts": 1, "max_output_tokens": limit, "temperature": 0},
            note,
        )


def _smokes(found: Iterable[Line]) -> Iterator[Json]:
    """Yield a pair of rows for each run over several prompts, whose table has a line per metric."""
    metrics = [line for line in found if line.path.endswith(SMOKE_FILE) and "Value" in line.cells]
    metrics = [line for line in metrics if line.cells["Metric"] != "Decoding speedup"]
    names = ("plain", "dflash", "length")
    for number, (target, task, settings) in enumerate(SMOKES):
        rates = {
            name: (line.place("Value"), line.cells["Value"].removesuffix(" tok/s"))
            for name, line in zip(names, metrics[3 * number : 3 * number + 3], strict=True)
        }
        greedy = {"temperature": 0} if number == 0 else {}
        yield from _dflash(f"smoke-{number + 1}", rates, target, task, {**settings, **greedy})


def _dflash(
    name: str,
    rates: dict[str, tuple[str, str]],
    target: Json,
    task: str | None,
    settings: Json,
    note: str | None = None,
) -> Iterator[Json]:
    """Yield a pair of rows; `rates` has (place, figure) of both rates and the tokens per round."""
    (plain, tps), (place, drafted), (_, length) = (
        rates[key] for key in ("plain", "dflash", "length")
    )
    arm = {
        "id": f"{name}-dflash",
        "place": place,
        "method": "dflash",
        "n_max": DEPTH,
        "draft": {"name": DRAFTS[target["name"]]},
        "figures": [figure("decode_tps", drafted), figure("tokens_per_round", length)],
    }
    shared = {"rig": RIG, "engine": MLX, "target": target, "task": task, "settings": settings}
    yield from compared(name, plain, figure("decode_tps", tps), [arm], **shared, note=note)


def _matrix(found: Iterable[Line]) -> Iterator[Json]:
    """Yield a pair of rows for each line about a task with LiteRT-LM, with estimated tokens."""
    about = {"qualifier": "about"}
    for line in found:
        if not line.path.endswith(MATRIX_FILE):
            continue
        size, place, *_ = line.heading.split()
        name = f"litert-{size}-{place}-{line.cells['task']}".lower()
        off, on = "off est tok/s", "on est tok/s"
        arm = {
            "id": f"{name}-mtp",
            "place": line.place(on),
            "method": "mtp",
            "figures": [figure("decode_tps", line.cells[on]) | about],
        }
        yield from compared(
            name,
            line.place(off),
            figure("decode_tps", line.cells[off]) | about,
            [arm],
            rig=RIG if place == "GPU" else f"{RIG}-cpu",
            engine=LITERT | ({} if place == "GPU" else {"backend": "cpu"}),
            target={"name": f"Gemma 4 {size}"},
            task=TASKS.get(line.cells["task"]),
            settings={"prompts": 2 if line.cells["task"] == "coding" else 1},
            note="Tokens are estimated from the length of the text; one run.",
        )


if __name__ == "__main__":
    main(transcribe)
