"""Qwen3.8-27B-ROCm by AIwork4me (Apache-2.0): Strix Halo with three engines, Radeon Pro W7900D.

The folder is a copy of the repository's `docs/results`. A cell is one batch of one to sixteen
concurrent requests. `matrix-714` ran on the Radeon 8060S of a Ryzen AI Max+ PRO 395. `dflash2` ran
on a discrete card: the model takes 26 GB of VRAM, and the author's page names a W7900-class card.
"""

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.sources.transcription import Json, dense, described, documents, main, stated

DIGEST = "b847c0ca3a47ed49df010ba6653bd3651b393522041494509985501005de69d1"
HALO, W7900D = "radeon-8060s", "radeon-pro-w7900d"
LLAMA_CPP = {"matrix-714": "4df29be4f", "dflash2": "5ecbe1ac1"}
# If a stream ends before half of its 256 tokens, the rates of its batch are not comparable.
LEAST_TOKENS = 128
IMPLICIT = (
    "The command names no depth; by an erratum of the author it ran at llama.cpp's default of 3."
)
CONTEXT = "The baseline had room for 262144 tokens, this row for 131072."


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The report in one file, and the settings in the file's name."""

    path: str
    report: Json

    @property
    def folder(self) -> str:
        return self.path.partition("/")[0]

    @property
    def engine(self) -> str:
        """The engine that the file's name states: `gguf-hip`, `gguf-vulkan` or `vllm`."""
        first, second, *_ = Path(self.path).stem.split("-")
        return first if first == "vllm" else f"{first}-{second}"

    @property
    def arm(self) -> str:
        return Path(self.path).stem.split("-auto-")[1].split("-")[0]

    @property
    def streams(self) -> int:
        return int(self.report["client"]["concurrency"])

    @property
    def context(self) -> int:
        return int(self.path.rpartition("ctx")[2].removesuffix(".json"))

    @property
    def doubtful(self) -> bool:
        """Whether the author marked the cell as degraded, or an answer ended far too early."""
        tokens = [each["completion_tokens"] for each in self.report["client"]["streams"]]
        return bool(self.report["degraded"]) or min(tokens) < LEAST_TOKENS


def transcribe(folder: Path) -> Json:
    """Transcribe every sound cell with speculation and the plain cell with the same load."""
    found = documents(folder, "*/*.json", DIGEST)
    cells = [
        Cell(path=path, report=report)
        for path, report in found.items()
        if not path.startswith("w7900d/") and "unified" not in path
    ]
    return described(__file__, _rows([cell for cell in cells if not cell.doubtful]))


def _rows(cells: list[Cell]) -> Iterator[Json]:
    """Yield each cell with speculation after its baseline; unpaired plain cells are dropped."""
    plain = {(c.folder, c.engine, c.streams, c.context): c for c in cells if c.arm == "base"}
    used: set[str] = set()
    for cell in cells:
        baseline = None if cell.arm == "base" else _baseline(cell, plain)
        if baseline is None:
            continue
        if baseline.path not in used:
            used.add(baseline.path)
            yield _row(baseline)
        yield _row(cell, baseline)


def _baseline(cell: Cell, plain: Mapping[tuple[str, str, int, int], Cell]) -> Cell | None:
    """The plain cell with the same load and the same context, else with a context of 262144."""
    same = (cell.folder, cell.engine, cell.streams)
    return plain.get((*same, cell.context)) or plain.get((*same, 262144))


def _row(cell: Cell, baseline: Cell | None = None) -> Json:
    depth = _depth(cell)
    rates = [1000 / stream["tpot_ms"] for stream in cell.report["client"]["streams"]]
    printed = f"{statistics.median(rates):.2f}"
    return stated(
        id=_id(cell),
        place=f"docs/results/{cell.path}",
        kind="baseline" if baseline is None else "speculation",
        rig=HALO if cell.folder == "matrix-714" else W7900D,
        engine=_engine(cell),
        target=dense("Qwen3.8-27B", "BF16" if cell.engine == "vllm" else "UD-Q4_K_XL", 27),
        draft=_draft(cell),
        method={"base": "none", "dflash": "dflash2", "dflash2": "dflash2"}.get(cell.arm, "mtp"),
        n_max=None if cell.arm == "base" else depth or 3,
        settings={
            "context_tokens": cell.context,
            "max_output_tokens": 256,
            "temperature": 0.7,
            "concurrency": cell.streams,
            "prompts": cell.streams,
            "thinking": False,
        },
        baseline_row=None if baseline is None else _id(baseline),
        also_differs=[CONTEXT] if baseline and baseline.context != cell.context else None,
        figures=[{"quantity": "decode_tps", "value": float(printed), "as_printed": printed}],
        note=IMPLICIT if cell.arm != "base" and depth is None else None,
    )


def _id(cell: Cell) -> str:
    return f"{cell.folder}-{Path(cell.path).stem}".replace("udq4kxl-auto-", "").replace(
        "bf16-auto-", ""
    )


def _engine(cell: Cell) -> Json:
    if cell.engine == "vllm":
        return {"name": "vLLM", "commit": "4d2a68d64", "backend": "rocm"}
    backend = "vulkan" if cell.engine == "gguf-vulkan" else "rocm"
    return {"name": "llama.cpp", "commit": LLAMA_CPP[cell.folder], "backend": backend}


def _draft(cell: Cell) -> Json | None:
    if not cell.arm.startswith("dflash"):
        return None
    quantisation = "Q8_0" if cell.folder == "dflash2" else "BF16"
    return {"name": "Qwen3.8-27B-DFlash2", "quantisation": quantisation}


def _depth(cell: Cell) -> int | None:
    """The draft depth by the server's flags; `None` if they do not state it."""
    flags = cell.report["server_flags"]
    if cell.engine == "vllm":
        return 7 if cell.arm == "dflash" else 1
    depth = flags.get("spec_depth")
    return None if depth is None else int(depth)


if __name__ == "__main__":
    main(transcribe)
