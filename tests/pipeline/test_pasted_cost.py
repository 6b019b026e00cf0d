"""Reading a pasted text does not freeze the page."""

from pathlib import Path

import pytest

from pipeline.site.pages.slower import knowledge, reasons
from tests import scripts
from tests.pipeline.test_pasted import PASTED

TIMES = """
import { compiled } from "./forms.js";
import { sides } from "./runs.js";
const answer = ({ known, texts, times }) => {
  const table = compiled(known.patterns);
  return texts.map((text) => {
    const spent = Array.from({ length: times }, () => {
      const start = process.cpuUsage();
      sides(["", text], table);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1000;
    });
    return spent.sort((a, b) => a - b)[Math.floor(times / 2)];
  });
};
"""


def repeated(name: str, size: int) -> str:
    text = (PASTED / name).read_text("utf-8") + "\n"
    return (text * (size // len(text) + 1))[:size]


@pytest.mark.nightly
def test_twenty_kilobytes_take_50_ms_and_two_megabytes_2_s(tmp_path: Path) -> None:
    names = sorted(each.name for each in PASTED.iterdir())
    small = {"texts": [repeated(name, 20_000) for name in names], "times": 20}
    large = {"texts": [repeated("mtp_1of633.log", 2_000_000)], "times": 1}

    known = {"known": knowledge(reasons())}
    spent = scripts.run(tmp_path, TIMES, known | small)
    (log,) = scripts.run(tmp_path, TIMES, known | large)

    assert {name: ms for name, ms in zip(names, spent, strict=True) if ms > 50} == {}
    assert log < 2000
