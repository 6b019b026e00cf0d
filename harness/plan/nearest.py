"""Base a plan's speeds on the results that the user names, else on results of similar machines."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from answers.choices import PlannedModel
from answers.learned import learned
from answers.machines import Computer, device_key
from answers.model import ModelFacts
from answers.model_names import quantisation_of
from answers.rates import Rate, rate_of, with_rates
from answers.shapes import facts_of, shape_of
from estimates.identity import identify
from estimates.pairing import plain_tps
from estimates.roofline import bytes_per_token
from harness.record.read import result
from schemas.submission import Submission


def with_results(computer: Computer, files: Iterable[Path], target: PlannedModel) -> Computer:
    """Return the computer with rates from the results in `files`, whatever machine they name.

    If `files` give no rate, those learned from all results on the same GPU or CPU are used, if any.
    Only results for the models nearest in size to the target count. Raises `BadInputError` if a
    file is not a result.
    """
    named = [rate for path in files for rate in _rates(result(path), path.stem)]
    return with_rates(computer, named or learned().rates, target.facts, of_this_machine=bool(named))


def _rates(submission: Submission, source: str) -> Iterator[Rate]:
    """Yield the rate that a result implies, if known and if its target ran on a single device."""
    if len(submission.machine.gpus) > 1:
        return
    on_cpu = submission.engine.backend == "cpu"
    whole = all(
        arm.placement is None or arm.placement.target_gpu_layers_requested in (None, -1)
        for arm in submission.arms
    )
    target, tps = submission.target, plain_tps(submission)
    shape, bits = shape_of(target.name), quantisation_of(target.quantisation or "")
    if tps is None or not (on_cpu or whole):
        return
    read = bytes_per_token(target)
    if shape is not None and bits is not None:
        facts = facts_of(shape, bits, file_bytes=target.file_bytes)
    elif read is not None:
        facts = ModelFacts(
            name=target.name, embedding=0, vocabulary=0, layers=(), output_bytes=read
        )
    else:
        return
    device = device_key(identify(submission).device_label, on_cpu=on_cpu)
    found = rate_of(facts, tps, on_cpu=on_cpu, device=device, source=source)
    if found is not None:
        yield found
