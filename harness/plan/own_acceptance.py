"""Read the asker's own acceptance: given as a number, or stated in a log or a result."""

import math
from dataclasses import dataclass

from msgspec.structs import replace

from harness import features
from harness.errors import BadInputError
from harness.files import expanded
from harness.plan.options import SpeedOptions
from planner.acceptance import drafted
from planner.engine_commands import default_depth
from planner.rounds import Curve
from planner.ways import OwnRounds, Way

_SIGN = b'"draftmap-submission"'


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnAcceptance:
    """The asker's own acceptance: the share of accepted drafts, or the tokens of a round.

    `depth` is the longest draft with which it was measured, `method` the only method that it is
    about, if known. `plain_tps` is the plain speed. `basis` says where they come from.
    """

    share: float | None = None
    tokens: float | None = None
    depth: int | None = None
    method: str | None = None
    plain_tps: float | None = None
    basis: str = ""

    def applied(
        self, way: Way, depth: int | None, curve: Curve | None, *, is_named: bool = False
    ) -> Way:
        """A way to draft with this acceptance and with the requested depth, if there is one.

        Drafts from the text get them only if they are named, and no share of drafted tokens,
        because most of their rounds have no draft.
        """
        text, share, tokens = way.source == "text", self.share, self.tokens
        if text and not is_named:
            return way
        way = replace(way, depths=(depth,)) if depth else way
        known = tokens is not None or (share is not None and not text)
        if not known or self.method not in (None, way.method):
            return way
        depths, measured = way.depths, self.depth or depth
        if curve:
            measured = measured or default_depth(way.method)
        elif not depth:
            least = math.ceil((tokens or 1) - 1)
            fitting = tuple(each for each in depths if each >= least)
            depths = (measured,) if measured else fitting or (least,)
        at = (measured,) if measured else depths
        if tokens is None:
            at = tuple(drafted(way.source, each) for each in at)
        each = {n: 1 + (share or 0.0) * n if tokens is None else tokens for n in at}
        return replace(way, depths=depths, accepted=OwnRounds.stated(each, self.basis))


def own_acceptance(speed: SpeedOptions) -> OwnAcceptance:
    """The acceptance that the options state. Raises `BadInputError` if they state several."""
    given = [speed.acceptance is not None, speed.tokens_per_round is not None, bool(speed.log)]
    if sum(given) > 1:
        raise BadInputError("give one of --acceptance, --tokens-per-round and --log")
    paths = [expanded(str(path)) for path in speed.log]
    if len(paths) == 1 and _SIGN in paths[0].read_bytes()[:4096]:
        from harness.record.own_runs import fastest  # noqa: PLC0415 - slow, and few name a result

        best = fastest(paths[0])
        method = best.arm.method
        return OwnAcceptance(
            tokens=best.whole.tokens_per_round,
            depth=method.n_max,
            method=method.type,
            basis=f"the acceptance in {paths[0].name}",
        )
    if paths:
        run, plain_tps = features.part("logs").read(paths)
        share = run.share if run.tokens is None else None
        basis = f"the acceptance in {run.name}"
        return OwnAcceptance(
            share=share, tokens=run.tokens, depth=run.depth, plain_tps=plain_tps, basis=basis
        )
    what = "acceptance" if speed.tokens_per_round is None else "tokens a round"
    return OwnAcceptance(
        share=speed.acceptance, tokens=speed.tokens_per_round, basis=f"the {what} that you gave"
    )
