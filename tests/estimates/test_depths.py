"""An arm with a varying depth has no single depth."""

from dataclasses import replace

import pytest

from estimates import depths
from estimates.identity import identify
from harness.report import details
from schemas.method import Method
from schemas.submission import Submission
from tests.samples import sample

ADAPTIVE = Method(type="mtp", n_max=9, adaptive=True, controller="autotune")
CHAIN = Method(type="other", name="ngram-mod+mtp", chain=("ngram-mod", "mtp"))


@pytest.mark.parametrize(
    ("method", "label", "depth"),
    [
        (Method(type="mtp", n_max=3), "MTP", 3),
        (ADAPTIVE, "MTP, adaptive depth (autotune)", None),
        (Method(type="ngram-mod", n_max=8, adaptive=True), "N-gram mod, adaptive depth", None),
        (
            Method(type="draft-model", draft="small", n_max=8, p_min=0.75),
            "Draft model, p-min 0.75",
            None,
        ),
        (Method(type="draft-model", draft="small", n_max=8, p_min=0.0), "Draft model", 8),
        (CHAIN, "N-gram mod, then MTP", None),
        (Method(type="eagle3", n_max=5, nodes=15), "EAGLE-3, tree of 15", 5),
        (Method(type="prompt-lookup", n_max=8, ngram_min=2, ngram_max=4), "Prompt lookup", 8),
        (Method(type="other", name="lookahead", n_max=4), "lookahead", 4),
    ],
)
def test_methods_have_labels_and_fixed_depths(
    method: Method, label: str, depth: int | None
) -> None:
    assert depths.label(method) == label
    assert depths.fixed(method) == depth


def with_method(method: Method, drafted: tuple[int, ...] | None) -> Submission:
    """A sample whose first speculating arm has this method and histogram of drafted lengths."""
    found = sample(tasks=("code",), prompts_per_task=1, blocks=1)
    changed = next(arm for arm in found.arms if arm.role == "speculation")
    return replace(
        found,
        arms=tuple(replace(arm, method=method) if arm is changed else arm for arm in found.arms),
        trials=tuple(
            replace(trial, drafted_histogram=drafted) if trial.arm == changed.id else trial
            for trial in found.trials
        ),
    )


def test_the_depths_of_an_adaptive_arm_are_a_median_and_a_range() -> None:
    # Of ten rounds that drafted, four drafted 1 token, two 4 and four 9; five drafted nothing.
    found = with_method(ADAPTIVE, (5, 4, 0, 0, 2, 0, 0, 0, 0, 4))

    (named,) = [each for each in identify(found).settings if each.varied_by]

    assert named.depths == "median 4, 1–9"  # noqa: RUF001 - as pages print a range
    assert (named.depth, named.setting) == (None, "mtp-adaptive-depth-autotune")


@pytest.mark.parametrize(
    ("drafter", "runner", "label"),
    [
        ("Qwen3-8B-DFlash-b16", "openai", "DFlash"),
        ("Qwen3.6-27B-LiLiCorr", "openai", "DFlash, LiLiCorr"),
        ("qwen3-8b-drafter", "openai", "DFlash, generation unknown"),
        # The header of a GGUF file states the generation.
        ("qwen3-8b-drafter", "llama-server", "DFlash"),
    ],
)
def test_generations_with_one_name_are_apart(drafter: str, runner: str, label: str) -> None:
    drawn = with_method(Method(type="dflash", draft="head", n_max=7), None)
    head = replace(drawn.drafts[0], id="head", name=drafter, architecture=None)
    found = replace(drawn, drafts=(head,), engine=replace(drawn.engine, runner=runner))

    assert [e.method_label for e in identify(found).settings if e.depth == 7] == [label]


def test_without_a_histogram_the_most_is_all_that_is_known() -> None:
    (adaptive,) = [e for e in identify(with_method(ADAPTIVE, None)).settings if e.varied_by]
    (chain,) = [e for e in identify(with_method(CHAIN, None)).settings if e.varied_by]

    assert (adaptive.depths, chain.depths) == ("up to 9", None)


def test_a_report_names_the_controller_of_the_depth() -> None:
    found = with_method(ADAPTIVE, None)
    arm = next(arm for arm in found.arms if arm.role == "speculation")

    assert "up to 9 tokens, adaptive depth (autotune)" in details.described(arm, found)
