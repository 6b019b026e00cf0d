"""Read a curve of step times from the output of llama-bench or `probe`, and a result."""

import codecs
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from estimates.decomposition import curve_of
from harness.errors import BadInputError
from harness.files import result_bytes
from harness.record.kept import KeptCurve
from harness.record.measured_curve import MeasuredCurve
from schemas.codec import UNREADABLE
from schemas.contract import read as read_result
from schemas.submission import Submission

_WIDEST = 64  # a test with more tokens reads a prompt
_NS_PER_MS = 1e6
# The fields in which tests with the same settings may differ.
_OF_A_TEST = {
    *("n_prompt", "n_gen", "n_depth", "test_time", "samples_ns", "samples_ts"),
    *("avg_ns", "stddev_ns", "avg_ts", "stddev_ts"),
}
_HOW = (
    "give the JSON of `llama-bench -p 1,2,3,4,5,6,7,8,9 -n 0 -o json`, or a file from "
    "`python -m harness probe`"
)


class _Sign(msgspec.Struct, frozen=True):
    """The key that identifies the JSON files that this project writes."""

    format: str = ""


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a llama-bench test that are used to build a curve."""

    n_prompt: int
    n_gen: int
    n_depth: int = 0
    samples_ns: tuple[float, ...] = ()
    avg_ns: float | None = None
    model_filename: str = ""
    model_type: str = ""
    model_size: int | None = None
    backends: str | None = None
    gpu_info: str | None = None
    n_gpu_layers: int | None = None
    type_k: str = "f16"
    build_number: int | None = None

    @property
    def is_step(self) -> bool:
        return not self.n_gen and 0 < self.n_prompt <= _WIDEST

    @property
    def steps(self) -> tuple[float, ...]:
        """The times of single steps, in nanoseconds."""
        return self.samples_ns or (self.avg_ns or 0.0,)


def read(path: Path) -> MeasuredCurve:
    """Return the curve in a file. Raises `BadInputError` for a file without a curve."""
    data = _utf8(result_bytes(path))
    try:
        sign = msgspec.json.decode(data, type=_Sign).format
    except UNREADABLE:
        sign = ""
    kept = sign.startswith("draftmap-curve")
    return _of_kept(path, data) if kept else _of_bench(path, data)


def result(path: Path) -> Submission:
    """Return the result in a file. Raises `BadInputError`."""
    found = read_result(_utf8(result_bytes(path)), file=str(path), now=datetime.now(UTC))
    if isinstance(found, Submission):
        return found
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    raise BadInputError(f"{found[0].line()}{more}; `python -m harness validate` lists all findings")


def _of_kept(path: Path, data: bytes) -> MeasuredCurve:
    try:
        found = msgspec.json.decode(data, type=KeptCurve)
    except UNREADABLE as error:
        raise BadInputError(
            f"{path}: {error}; measure the curve again with `python -m harness probe`"
        ) from error
    if not found.is_whole:
        raise BadInputError(f"{path}: a width has no step time; repeat `python -m harness probe`")
    curve = found.curve
    return MeasuredCurve(
        probe=curve.probe,
        model=f"{found.model.name}-{found.model.quantisation}",
        architecture=None,
        kv_type=found.settings.kv_type_k or "f16",
        file_bytes=found.model.file_bytes,
        device="" if found.engine.backend == "cpu" else found.device,
        source=curve.source,
        file=str(path),
    )


def _of_bench(path: Path, data: bytes) -> MeasuredCurve:
    steps = [(row, test) for row, test in _rows(path, data) if row.is_step]
    found = [(row, test) for row, test in steps if not row.n_depth]
    rows = [row for row, _ in found]
    if not found:
        reason = f"it has no test with a step of 1 to {_WIDEST} tokens"
        if steps:
            reason = f"its steps have a context of {steps[0][0].n_depth} tokens; leave out -d"
        raise BadInputError(f"{path}: {reason}; {_HOW}")
    if no_time := next((row.n_prompt for row in rows if min(row.steps) <= 0), None):
        raise BadInputError(f"{path}: the step of {no_time} tokens has no time above 0; {_HOW}")
    settings = [{key: test[key] for key in test.keys() - _OF_A_TEST} for _, test in found]
    if any(each != settings[0] for each in settings):
        raise BadInputError(
            f"{path}: it has tests of several models or settings; give a file with the tests "
            "of a single model and setting"
        )
    times: dict[int, list[float]] = {}
    for row in sorted(rows, key=lambda each: each.n_prompt):
        times.setdefault(row.n_prompt, []).extend(ns / _NS_PER_MS for ns in row.steps)
    row = rows[0]
    # The GPU; empty for a CPU, `None` if not stated.
    backends = {
        name.strip() for name in (row.backends or "").upper().replace("BLAS", "CPU").split(",")
    }
    device = "" if row.n_gpu_layers == 0 or backends <= {"CPU"} else row.gpu_info or None
    build = f" b{row.build_number}" if row.build_number else ""
    where = "" if device is None else f" on {device or 'a CPU'}"
    return MeasuredCurve(
        probe=curve_of(times, context_tokens=0),
        model=Path(row.model_filename.replace("\\", "/")).stem or row.model_type or "a model",
        architecture=row.model_type.partition(" ")[0] or None,
        kv_type=row.type_k,
        file_bytes=row.model_size,
        device=device,
        source=f"llama-bench{build}{where}",
        file=str(path),
    )


def _rows(path: Path, data: bytes) -> list[tuple[_Row, dict[str, object]]]:
    """Read tests from a JSON list, or from JSON lines. Raises `BadInputError`."""
    try:
        if data.lstrip().startswith(b"["):
            tests = msgspec.json.decode(data, type=list[dict[str, object]])
        else:
            tests = msgspec.json.Decoder(dict[str, object]).decode_lines(data)
        return [(msgspec.convert(test, _Row), test) for test in tests]
    except UNREADABLE as error:
        raise BadInputError(f"{path}: it is not a curve of step times ({error}); {_HOW}") from error


def _utf8(data: bytes) -> bytes:
    """The bytes as UTF-8 without the byte-order mark that editors and PowerShell add."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16").encode()
    return data.removeprefix(codecs.BOM_UTF8)
