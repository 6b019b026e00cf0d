"""The rules between the fields of a submission, by name.

To add one: write the function, or for an id or a reference its path, give it a line here, and one
in `tools/examples.py`, which makes the example file that breaks this rule and no other.
"""

from schemas import private
from schemas.rules import completeness, contradictions, counters, design, references
from schemas.rules.references import Rule, one_of, unique

RULES: dict[str, Rule] = {
    "baseline-arm-present": references.baseline_arm_present,
    "arm-ids-unique": unique("arms[].id"),
    "arm-baseline": references.arm_baseline,
    "arm-draft-known": one_of("arms[].method.draft", "drafts[].id", "listed draft"),
    "arm-reason": references.arm_reason,
    "arm-method-fits-role": design.arm_method_fits_role,
    "ngram-range-ascends": design.ngram_range_ascends,
    "active-within-total": design.active_within_total,
    "prompt-ids-unique": unique("suite.prompts[].id"),
    "draft-ids-unique": unique("drafts[].id"),
    "probe-draft-known": one_of("probes.drafting[].draft", "drafts[].id", "listed draft"),
    "warmup-arm-known": one_of("warmups[].arm", "arms[].id", "listed arm"),
    "trial-arm-known": one_of("trials[].arm", "arms[].id", "listed arm"),
    "trial-prompt-known": one_of("trials[].prompt", "suite.prompts[].id", "prompt of the suite"),
    "trial-block-planned": design.trial_block_planned,
    "trial-unique": references.trial_unique,
    "trial-order": references.trial_order,
    "trial-reason": references.trial_reason,
    "origin-of-import": references.origin_of_import,
    "accepted-within-drafted": counters.accepted_within_drafted,
    "accepted-within-depth": counters.accepted_within_depth,
    "full-rounds-within-rounds": counters.full_rounds_within_rounds,
    "drafted-within-depth": counters.drafted_within_depth,
    "output-tokens-counted": counters.output_tokens_counted,
    "output-within-limit": counters.output_within_limit,
    "context-large-enough": counters.context_large_enough,
    "histograms-agree": counters.histograms_agree,
    "medians-agree": counters.medians_agree,
    "no-speculation-drafts-nothing": counters.no_speculation_drafts_nothing,
    "divergence-within-compared": counters.divergence_within_compared,
    "parts-within-decode": design.parts_within_decode,
    "decode-within-wall": design.decode_within_wall,
    "trials-within-window": design.trials_within_window,
    "decode-takes-time": design.decode_takes_time,
    "probe-widths-ascend": design.probe_widths_ascend,
    "quantisation-fits-size": contradictions.quantisation_fits_size,
    "parameters-fit-name": contradictions.parameters_fit_name,
    "backend-has-device": contradictions.backend_has_device,
    "sampling-fits-temperature": contradictions.sampling_fits_temperature,
    "prompts-fill-depth": contradictions.prompts_fill_depth,
    "backend-name-of-other": contradictions.backend_name_of_other,
    "no-secrets": private.no_secrets,
    "run-facts-stated": completeness.run_facts_stated,
    "arm-facts-stated": completeness.arm_facts_stated,
    "trial-facts-stated": completeness.trial_facts_stated,
}
