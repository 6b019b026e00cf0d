"""Explain in one sentence why an arm is faster or slower than its baseline."""

from estimates import verdicts
from estimates.decomposition import drafted_lengths, step_ms
from estimates.model import AnswerLength, Estimate, Interval
from estimates.repeatability import single_pass
from estimates.requests import Costs
from estimates.requests import whole_request as whole_ratio
from schemas.method import limit
from schemas.submission import Arm, Submission, Trial
from schemas.vocabulary import FIXED_TASKS, no_verdict, say, sentence

# If fewer than one round in ten drafts, even perfect drafts cannot change much.
RARELY_FIRES = 0.10
# Verification is named as the cause if it is most of the cost of a round.
MOSTLY_VERIFICATION = 0.8
HARDLY = (0.95, 1.05)


def reason(estimate: Estimate, submission: Submission) -> str:
    """Explain an estimate of this submission in one sentence."""
    arm = next(arm for arm in submission.arms if arm.id == estimate.arm)
    match estimate.verdict:
        case "failed":
            return _why_failed(estimate, arm, submission)
        case "never-drafted":
            return "This arm drafted nothing in any round, so nothing could change."
        case "uncertain":
            return _why_uncertain(estimate, arm, submission)
        case "too-few-prompts":
            return _why_too_few(estimate, submission)
        case "helps" | "hurts" | "no-clear-difference" | "slower-in-all":
            if estimate.speedup is None:
                return "The server's stream does not show when tokens were written."
            return _why_this_speed(estimate, arm, submission)


# Answer lengths in tokens, from a label to an essay.
ANSWER_LENGTHS = (24, 96, 384, 1536)


def costs_of(estimate: Estimate) -> Costs | None:
    """The cost in ms of a prompt token and of an answer token, in both arms; `None` if unknown."""
    reading = estimate.baseline_reading_ms, estimate.reading_ms
    rates, prompt_tokens = (estimate.baseline_tps, estimate.tps), estimate.mean_prompt_tokens
    if not prompt_tokens or reading[0] is None or reading[1] is None:
        return None
    if rates[0] is None or rates[1] is None:
        return None
    return Costs(
        baseline_prompt_token_ms=reading[0] / prompt_tokens,
        prompt_token_ms=reading[1] / prompt_tokens,
        baseline_token_ms=1000 / rates[0],
        token_ms=1000 / rates[1],
    )


def whole_request(estimate: Estimate) -> str:
    """Compare the speedup of whole requests with that per token, at several answer lengths."""
    if estimate.whole_request is None:
        return ""
    interval = estimate.whole_request_interval
    bounds = (interval.low, interval.high) if interval else (None, None)
    text = (
        f"Whole request: {say.speedup(estimate.whole_request, *bounds)} the baseline's speed, "
        "reading the prompt included"
    )
    if estimate.speedup is None:
        return f"{text}; the time per token is unknown."
    text += f" (per token {say.times(estimate.speedup)})"
    costs, prompt_tokens = costs_of(estimate), estimate.mean_prompt_tokens
    if costs is None or prompt_tokens is None:
        return f"{text}."
    answers = say.listed([f"{length:,}" for length in ANSWER_LENGTHS])
    ratios = say.listed(
        [say.times(whole_ratio(costs, prompt_tokens, length)) for length in ANSWER_LENGTHS]
    )
    text += (
        f", with prompts of {prompt_tokens:.0f} and answers of {estimate.mean_output_tokens:.0f} "
        f"tokens on average. For answers of {answers} tokens: {ratios}."
    )
    if pays := estimate.pays_from:
        text += f" {sentence('pays-from', length=answer_length(pays))}"
    return text


def answer_length(pays: AnswerLength) -> str:
    """An answer length in words, rounded: `1,700 tokens (1,100 to 4,400)`."""
    text = f"{say.about(pays.tokens)} tokens"
    if pays.low is None:
        return text
    high = "perhaps never" if pays.high is None else say.about(pays.high)
    return f"{text} ({say.about(pays.low)} to {high})"


def _why_failed(estimate: Estimate, arm: Arm, submission: Submission) -> str:
    if arm.outcome == "failed":
        return f"The arm did not run: {say.reason(arm.reason)}."
    failed = _failed(estimate, submission, arm.id)
    finished = any(trial.outcome == "ok" for trial in _own(estimate, submission, arm.id))
    if failed and not finished:
        return f"None of the arm's {len(failed)} trials finished: {say.reason(failed[0].reason)}."
    base = _failed(estimate, submission, estimate.baseline)
    cause = f" ({say.reason(base[0].reason)})" if base else ""
    return f"No trial of the baseline finished{cause}, so there is nothing to compare with."


def _why_uncertain(estimate: Estimate, arm: Arm, submission: Submission) -> str:
    if estimate.doubt == verdicts.INSTRUMENT:
        cost, length = say.number(estimate.round_cost, 2), say.number(estimate.tokens_per_round, 2)
        return (
            f"This arm is an instrument: its tokens per round were set to {length}, and a round "
            f"costs {cost} plain tokens (R). A draft of this depth wins if it yields more than R "
            "tokens per round."
        )
    if estimate.doubt == verdicts.SINGLE_PASS:
        return _why_this_speed(estimate, arm, submission)
    return no_verdict(estimate.doubt or "")


def _why_too_few(estimate: Estimate, submission: Submission) -> str:
    if estimate.task is None and estimate.speedup is None:
        measured = {prompt.task for prompt in submission.suite.prompts}
        missing = [task for task in FIXED_TASKS if task not in measured]
        if missing and not estimate.own_tasks:
            return (
                "There is no figure over all tasks, because some tasks were not measured: "
                f"{say.listed(missing)}."
            )
        return (
            "There is no figure over all tasks, because on at least one task no prompt was "
            "finished by both arms."
        )
    prompts = "prompt was" if estimate.prompts == 1 else "prompts were"
    return f"Only {estimate.prompts} {prompts} compared; an interval needs at least 2."


def _why_this_speed(estimate: Estimate, arm: Arm, submission: Submission) -> str:
    if estimate.interval is None and single_pass(submission):
        return (
            f"{_times(estimate)} the baseline's speed in a single pass of each arm. A "
            "disturbance of one pass looks like a difference, so measure at least three blocks."
        )
    if arm.role == "control" and arm.method.acceptance is None:
        return _control(estimate, arm)
    if arm.role == "alternative":
        return f"Without speculation, this setup runs at {_times(estimate)} the baseline's speed."
    fired, yielded = estimate.fire_rate, estimate.tokens_per_round
    rarely = fired is not None and fired < RARELY_FIRES and (yielded or 1.0) < 1 + RARELY_FIRES
    if rarely and estimate.verdict not in {"helps", "slower-in-all"}:
        return f"This arm drafted in only {say.percent(fired)} of rounds, so little could change."
    if estimate.tokens_per_round is None or estimate.round_cost is None:
        return (
            f"This arm runs at {_times(estimate)} the baseline's speed; the engine reports no "
            "rounds, so the cause is unknown."
        )
    return _balance(estimate, arm, submission, estimate.round_cost, estimate.tokens_per_round)


def _balance(
    estimate: Estimate, arm: Arm, submission: Submission, cost: float, yielded: float
) -> str:
    """Explain a speedup by the cost of a round and the tokens that it yields."""
    depth = limit(arm.method)
    costs, yields = f"{cost:.1f}", f"{yielded:.1f}"
    if costs == yields:
        costs, yields = f"{cost:.2f}", f"{yielded:.2f}"
    interval = estimate.interval
    hardly = interval is not None and interval.low > HARDLY[0] and interval.high < HARDLY[1]
    uncertain = "so it is uncertain whether this arm gains"
    if hardly:
        uncertain = "so it hardly matters"
    elif interval is not None and not interval.low < 1 < interval.high:
        word = "slower" if interval.high < 1 else "faster"
        uncertain = f"so this arm is {word} by an uncertain amount"
    endings = {
        "helps": ", so this arm wins",
        "slower-in-all": ", but reading the prompt costs more time than decoding saves",
        "no-clear-difference": f"; the speedup lies between {_range(interval)}, {uncertain}",
    }
    if ending := endings.get(estimate.verdict):
        return f"One round costs {costs} plain tokens and yields {yields}{ending}."
    if depth is not None and cost > depth + 1:
        return (
            f"One round costs {costs} plain tokens and yields at most {depth + 1}, so this arm "
            "could not win at any acceptance rate."
        )
    verification = _verification(estimate, submission)
    if verification is not None and verification[1] > MOSTLY_VERIFICATION * cost:
        width, steps = verification
        return (
            f"Checking {width} tokens takes as long as {steps:.1f} plain steps: break-even is "
            f"{costs} tokens per round, but this arm yields {yields}."
        )
    return f"One round costs {costs} plain tokens and yields only {yields}, so this arm loses."


def _verification(estimate: Estimate, submission: Submission) -> tuple[int, float] | None:
    """The most frequent verification width, and its probed cost in one-token steps."""
    trials = _own(estimate, submission, estimate.arm)
    lengths = drafted_lengths([trial for trial in trials if trial.outcome == "ok"])
    if lengths is None or submission.probes is None or submission.probes.verification is None:
        return None
    width = max(range(len(lengths)), key=lengths.__getitem__, default=0) + 1
    curve = submission.probes.verification
    single_ms, width_ms = step_ms(curve, 1), step_ms(curve, width)
    if width == 1 or single_ms is None or width_ms is None:
        return None
    return width, width_ms / single_ms


def _control(estimate: Estimate, arm: Arm) -> str:
    found = f"{estimate.speedup:.2f}, between {_range(estimate.interval)}"
    if arm.method.type == "none":
        return f"The baseline against itself should give 1.00; it gave {found}."
    return f"This control drafts nothing, so the ratio shows the overhead of the loop: {found}."


def _own(estimate: Estimate, submission: Submission, arm: str) -> list[Trial]:
    """All trials of an arm on the prompts that the estimate covers."""
    tasks = FIXED_TASKS if estimate.task is None else (estimate.task,)
    prompts = submission.suite.prompts
    ids = {each.id for each in prompts if estimate.own_tasks or each.task in tasks}
    return [trial for trial in submission.trials if trial.arm == arm and trial.prompt in ids]


def _failed(estimate: Estimate, submission: Submission, arm: str) -> list[Trial]:
    return [trial for trial in _own(estimate, submission, arm) if trial.outcome == "failed"]


def _times(estimate: Estimate) -> str:
    return "an unknown multiple of" if estimate.speedup is None else f"{estimate.speedup:.2f} times"


def _range(interval: Interval | None) -> str:
    if interval is None:
        return "unknown bounds"
    return f"{say.bound(interval.low)} and {say.bound(interval.high)}"
