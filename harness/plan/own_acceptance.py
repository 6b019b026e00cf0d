"""Read the asker's own acceptance: given as a number, or stated in a log or a result."""

import math
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from answers.engine_commands import default_depth
from answers.rounds import Curve
from answers.ways import OwnRounds, Way
from harness import features
from harness.errors import BadInputError
from harness.files import expanded
from harness.plan.options import SpeedOptions

_SIGN = b'"draftmap-submission"'


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAcceptance:
    """The asker's own acceptance, for all ways to draft or for one method; the plain speed."""

    accepted: OwnRounds | None = None
    method: str | None = None
    plain_tps: float | None = None

    def applied(
        self, way: Way, depth: int | None, curve: Curve | None, *, is_named: bool = False
    ) -> Way:
        """A way to draft with this acceptance and with the requested depth, if there is one.

        Drafts from the text get them only if they are named, and no share of drafted tokens,
        because most of their rounds have no draft.
        """
        own, text = self.accepted, way.source == "text"
        if text and not is_named:
            return way
        way = replace(way, depths=(depth,)) if depth else way
        if own is None or self.method not in (None, way.method) or (text and own.tokens is None):
            return way
        measured = own.depth or depth
        if curve and measured is None:
            measured = default_depth(way.method)
        depths = way.depths
        if not depth and not curve:
            least = math.ceil((own.tokens or 1) - 1)
            fitting = tuple(each for each in depths if each >= least)
            depths = (measured,) if measured else fitting or (least,)
        return replace(way, depths=depths, accepted=replace(own, depth=measured))


def own_acceptance(speed: SpeedOptions) -> OwnAcceptance:
    """The acceptance that the options state. Raises `BadInputError` if they state several."""
    given = [speed.acceptance is not None, speed.tokens_per_round is not None, bool(speed.log)]
    if sum(given) > 1:
        raise BadInputError("give one of --acceptance, --tokens-per-round and --log")
    if speed.acceptance is not None:
        basis = "the acceptance that you gave"
        return OwnAcceptance(accepted=OwnRounds(share=speed.acceptance, basis=basis))
    if speed.tokens_per_round is not None:
        basis = "the tokens a round that you gave"
        return OwnAcceptance(accepted=OwnRounds(tokens=speed.tokens_per_round, basis=basis))
    paths = [expanded(str(path)) for path in speed.log]
    return _of_files(paths) if paths else OwnAcceptance()


def _of_files(paths: list[Path]) -> OwnAcceptance:
    if len(paths) == 1 and _SIGN in paths[0].read_bytes()[:4096]:
        return _of_result(paths[0])
    run, plain_tps = features.part("logs").read(paths)
    accepted = OwnRounds(
        share=run.share if run.tokens is None else None,
        tokens=run.tokens,
        depth=run.depth,
        basis=f"the acceptance in {run.name}",
    )
    return OwnAcceptance(accepted=accepted, plain_tps=plain_tps)


def _of_result(path: Path) -> OwnAcceptance:
    from harness.record.own_runs import drafted  # noqa: PLC0415 - slow, and few name a result

    found = drafted(path)
    if not found:
        raise BadInputError(f"{path}: no arm of this result has tokens per round over all prompts")
    best = max(found, key=lambda each: each.whole.speedup or 0.0)
    method = best.arm.method
    accepted = OwnRounds(
        tokens=best.whole.tokens_per_round,
        depth=method.n_max,
        basis=f"the acceptance in {path.name}",
    )
    return OwnAcceptance(accepted=accepted, method=method.type)
