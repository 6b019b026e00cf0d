"""In random mixtures of known lines, no described line is lost silently."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from harness.imports.forms import FORMS
from harness.imports.printed import printed
from pipeline.site.pages.slower import knowledge, reasons
from tests import scripts
from tests.pipeline.test_pasted import PASTED

OTHERS = """\
CtxLimit:913/8192, Amt:101/512, Init:0.01s, Process:0.52s (500.00T/s), Generate:4.50s (22.44T/s), Total:5.02s
(Draft Results - Success:60, Failure:12)
13.10 tok/sec • 400 tokens • 0.40s to first token
Tokens/Second: 13.10
slot update_slots: id  3 | task 0 | accepted 2/16 draft tokens, new n_tokens = 664
Predicted Tokens: 400
Accepted 180/700 draft tokens (25.7%)
CtxLimit:1897/9216, Init:0.02s, Processed:549 in 1.26s (434.68T/s), Generated:139/1536 in 2.95s (47.12T/s), Total:4.23s
| code | 1 | mtp | 101 | limit | 2.000 | 50 | 50/100 |
Prompt: 20 tokens, 300.500 tokens-per-sec
Generation: 100 tokens, 50.123 tokens-per-sec
[DAR] AVERAGE: 0.61
[AL] AVERAGE: 2.84
|   512 |    128 |    1 |    640 |    0.500 |  1024.00 |    2.000 |    64.00 |    2.500 |   256.00 |
sglang:spec_accept_length{engine_type="unified",model_name="x"} 2.5
INFO [ print_timings] generation eval time = 2000.00 ms / 101 runs ( 9.90 ms per token, 50.50 tokens per second)
"""  # noqa: E501 - lines of logs
NOISE = (
    "srv  update_slots: all slots are idle",
    "ggml_cuda_init: found 1 CUDA devices:",
    "request: POST /v1/chat/completions 127.0.0.1 200",
    "",
    "  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes",
    "# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.",
    "llama_perf_context_print:        load time =    3575.03 ms",
)
PREFIXES = ("", "[53409] ", "server-1  | ", "(APIServer pid=95669) ")


def known_lines() -> list[tuple[str, list[tuple[str, dict[str, Any]]]]]:
    """Each single line that a form reads, with the form and its figures."""
    texts = [each.read_text("utf-8") for each in sorted(PASTED.iterdir())]
    lines = [line for text in (*texts, OTHERS) for line in text.splitlines()]
    found = [(line, printed(line, "").found) for line in dict.fromkeys(lines)]
    return [(line, [(e.form.of, e.figures) for e in all_]) for line, all_ in found if all_]


KNOWN = known_lines()


@st.composite
def mixtures(draw: st.DrawFn) -> tuple[str, list[tuple[str, dict[str, Any]]]]:
    """Texts of known lines and noise of several servers, some coloured, with their facts."""
    pieces, states = [], []
    for _ in range(draw(st.integers(1, 12))):
        pieces += draw(st.lists(st.sampled_from(NOISE), max_size=2))
        line, stated = draw(st.sampled_from(KNOWN))
        whole = line if line.startswith(("|", "[", "(")) else draw(st.sampled_from(PREFIXES)) + line
        if whole != line and not line_reads_as(whole, stated):
            whole = line  # a pattern that begins a line has no prefix
        if draw(st.integers(0, 5)) == 0:
            whole = f"\x1b[32m{whole}\x1b[0m"
        pieces.append(whole)
        pieces += draw(st.lists(st.sampled_from(NOISE), max_size=1))
        states += stated
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(pieces), states


def line_reads_as(line: str, stated: list[tuple[str, dict[str, Any]]]) -> bool:
    return [(each.form.of, each.figures) for each in printed(line, "").found] == stated


def lost(
    states: list[tuple[str, dict[str, Any]]], found: list[Any], named: set[str]
) -> list[tuple[str, dict[str, Any]]]:
    """Lines that are neither in the figures of their form nor named as left out."""
    return [
        (of, figures)
        for of, figures in states
        if of not in named
        and not any(of == own and figures.items() <= all_.items() for own, all_ in found)
    ]


def test_every_form_has_a_line_that_is_tried() -> None:
    assert {of for _, stated in KNOWN for of, _ in stated} == {form.of for form in FORMS}


@settings(
    max_examples=200,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(mixtures())
def test_the_importer_reads_or_names_every_line_that_a_form_describes(
    mixture: tuple[str, list[tuple[str, dict[str, Any]]]],
) -> None:
    text, states = mixture
    plain = text.replace("\x1b[32m", "").replace("\x1b[0m", "")

    read = printed(plain, "")

    found = [(each.form.of, each.figures) for each in read.found]
    named = {form.of for _, form in read.unread} | read.models
    assert lost(states, found, named) == []


READ = """
import { compiled, joined } from "./forms.js";
import { figures } from "./tworuns.js";
import { sides, statedIn } from "./runs.js";
const none = { plain: null, spec: null, tokens: null, drafted: null, accepted: null, depth: null,
  slots: null, layersWith: null, layersWithout: null, length: null };
const answer = ({ known, texts }) => texts.map(([without, with_]) => {
  const table = compiled(known.patterns);
  const sided = sides([without, with_], table);
  const runs = sided.asked ? sided.asked.slice(0, 2) : [sided.without, sided.with];
  const stated = statedIn(joined(with_, table), table);
  return {
    found: stated.found.map(({ form, figures }) => [form.of, figures]),
    named: [...stated.unread.map(({ form }) => form.of), ...stated.models],
    rates: runs.map((run) => run.rate !== null || run.requests.length > 0),
    figures: figures(...runs, none, known),
  };
});
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mixtures")


@settings(
    max_examples=12, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)
@pytest.mark.nightly
@given(st.lists(st.tuples(mixtures(), mixtures()), min_size=8, max_size=12))
def test_the_page_reads_the_same_and_derives_every_share_and_speedup(
    folder: Path, pairs: list[tuple[tuple[str, Any], tuple[str, Any]]]
) -> None:
    texts = [[without, with_] for (without, _), (with_, _) in pairs]

    answers = scripts.run(folder, READ, {"known": knowledge(reasons()), "texts": texts})

    for (_, (text, states)), answer in zip(pairs, answers, strict=True):
        own = printed(text.replace("\x1b[32m", "").replace("\x1b[0m", ""), "")
        assert lost(states, answer["found"], set(answer["named"])) == []
        assert answer["found"] == [[each.form.of, each.figures] for each in own.found]
        shares = [answer["figures"][name] for name in ("acceptance", "fired", "draftShare")]
        assert all(share is None or 0 <= share <= 1 for share in shares)
        assert answer["figures"]["middle"] is None or all(answer["rates"])
        assert (answer["figures"]["yielded"] or 1) >= 1
