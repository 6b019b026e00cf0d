"""Base a plan's speeds on the results that the user names, else on results of similar machines."""

from collections.abc import Iterable
from pathlib import Path

from answers.learned import learned
from answers.machines import Computer
from answers.model import ModelFacts
from answers.model_names import quantisation_of
from answers.names import card_key, read_model
from answers.rates import Rate, rate_of, rates_of, with_rates
from answers.shapes import facts_of, shape_of
from answers.ways import PlannedModel
from estimates.identity import identify
from estimates.pairing import plain_tps
from estimates.roofline import bytes_per_token
from harness.errors import BadInputError
from harness.record.read import result as read_result
from schemas.submission import Submission


def with_results(computer: Computer, files: Iterable[Path], target: PlannedModel) -> Computer:
    """Return the computer with rates from the results in `files`.

    Where `files` give no rate of the cards or of the CPU, those learned from all results on the
    same ones are used, if any. Only results for the models nearest in size to the target count.
    Raises `BadInputError` if a file is not a result, or is one of another card.
    """
    results = [(path, read_result(path)) for path in files]
    for path, result in results:
        _require_card(path, result, computer)
    named = [*filter(None, (_rate(result, path.stem) for path, result in results))]
    known = {rate.on_cpu for rate in named}
    others = (each for each in rates_of(computer, learned().rates) if each.on_cpu not in known)
    return with_rates(computer, [*named, *others], target.facts)


def _require_card(path: Path, result: Submission, computer: Computer) -> None:
    """Raise `BadInputError` if a result was measured on a card that the computer does not have."""
    rig, cards = identify(result), {memory.card for memory in computer.devices}
    on_card = rig.device_kind == "gpu" and result.engine.backend != "cpu"
    if on_card and card_key(rig.device_name) not in {*cards, None}:
        named = " + ".join(sorted(cards)) or "a CPU"
        raise BadInputError(
            f"{path}: measured on {rig.device_label}, but the plan is for {named}; leave out "
            f"--result, or plan for that card: --gpu '{rig.device_label}'"
        )


def _rate(result: Submission, source: str) -> Rate | None:
    """Return the rate that a result implies, if known and if its target ran on a single device."""
    on_cpu = result.engine.backend == "cpu"
    whole = on_cpu or all(
        arm.placement is None or arm.placement.target_gpu_layers_requested in (None, -1)
        for arm in result.arms
    )
    target, tps = result.target, plain_tps(result)
    size = bytes_per_token(target)
    shape, bits = shape_of(read_model(target.name).slug), quantisation_of(target.quantisation or "")
    if tps is None or not whole or len(result.machine.gpus) > 1:
        return None
    if shape is not None and bits is not None:
        facts = facts_of(shape, bits, file_bytes=target.file_bytes)
    elif size is not None:
        facts = ModelFacts(
            name=target.name, embedding=0, vocabulary=0, layers=(), output_bytes=size
        )
    else:
        return None
    return rate_of(facts, tps, on_cpu=on_cpu, device="", source=source)
