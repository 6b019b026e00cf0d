"""Print what the page "Why is it slower?" concludes from pasted texts, as JSON.

`python -m tests.read_pasted FILE...` prints a line for each file, as if it was pasted into the
field for the run with speculation; `OFF::ON` pastes a file into each field.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from pipeline.site.pages.slower import knowledge, reasons
from tests import scripts

CONCLUDE = """
import { compiled } from "./forms.js";
import { sides, speculated } from "./runs.js";
import { reasons } from "./reasons.js";
import { figures } from "./tworuns.js";
const none = { plain: null, spec: null, tokens: null, drafted: null, accepted: null, depth: null,
  slots: null, layersWith: null, layersWithout: null, length: null };
const empty = { requests: [], rate: null, engine: [] };
const isRead = (f) => f.specRate !== null || f.yielded !== null || f.acceptance !== null;
export const conclude = (known, patterns, { without, with: with_, typed }) => {
  const found = sides([without, with_], patterns);
  const given = { ...none, ...typed };
  const runs = (found.asked ?? [found.without, found.with]).map((run) => {
    const f = figures(empty, run, given, known);
    return { name: run.titles.join(" · "), speculation: speculated(run, patterns), is: isRead(f),
      at_once: run.rateOf,
      tps: run.rateOf > 1 ? null : f.specRate, tokens_per_round: f.yielded,
      acceptance: f.acceptance, depth: f.longest, engine: run.engine, refused: run.refused };
  });
  const f = found.asked ? null : figures(found.without, found.with, given, known);
  return { runs: runs.filter((run) => run.is || run.refused), speedup: f?.middle ?? null,
    asks: Boolean(found.asked), figures: f,
    reasons: f && reasons(f, known).map(({ id, sure }) => [id, sure]),
    run: found.asked ? null : found.with };
};
const answer = ({ known, asked }) => {
  const patterns = compiled(known.patterns);
  return asked.map((each) => conclude(known, patterns, each));
};
"""


def concluded(pairs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return what the page concludes from each pair of texts, without and with speculation."""
    asked = [{"without": off, "with": on, "typed": {}} for off, on in pairs]
    with tempfile.TemporaryDirectory() as folder:
        found: list[dict[str, Any]] = scripts.run(
            Path(folder), CONCLUDE, {"known": knowledge(reasons()), "asked": asked}
        )
    return found


def main(arguments: Sequence[str]) -> None:
    pairs = [each.rpartition("::")[::2] for each in arguments]
    texts = [[Path(name).read_text("utf-8") if name else "" for name in pair] for pair in pairs]
    for name, each in zip(arguments, concluded([(off, on) for off, on in texts]), strict=True):
        kept = {key: each[key] for key in ("runs", "speedup", "asks")}
        sys.stdout.write(f"{name} {orjson.dumps(kept).decode()}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
