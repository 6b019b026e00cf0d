"""Do the arms, the models and the blocks fit the roles and the plan that the file states?"""

from collections.abc import Iterator

from schemas.finding import Finding
from schemas.submission import NoSpeculation, PromptLookup, Submission


def arm_method_fits_role(submission: Submission) -> Iterator[Finding]:
    """A baseline and an alternative do not speculate; what is judged as speculation does."""
    for index, arm in enumerate(submission.arms):
        plain = isinstance(arm.method, NoSpeculation)
        if plain and arm.role == "speculation":
            message = "the method none does not speculate; give the method, or another role"
        elif not plain and arm.role in ("baseline", "alternative"):
            message = (
                f"the role {arm.role} goes with the method none; "
                "set the type to none, or the role to speculation"
            )
        else:
            continue
        path = f"$.arms[{index}].method.type"
        yield Finding(path=path, message=message, rule="arm-method-fits-role")


def ngram_range_ascends(submission: Submission) -> Iterator[Finding]:
    """The shortest n-gram that is looked up is no longer than the longest."""
    for index, arm in enumerate(submission.arms):
        method = arm.method
        if isinstance(method, PromptLookup) and method.ngram_min > method.ngram_max:
            message = (
                f"ngram_min is {method.ngram_min}, more than ngram_max {method.ngram_max}; "
                "give the smaller number first"
            )
            path = f"$.arms[{index}].method.ngram_min"
            yield Finding(path=path, message=message, rule="ngram-range-ascends")


def active_within_total(submission: Submission) -> Iterator[Finding]:
    """A model uses no more parameters per token than it has."""
    drafts = {f"$.drafts[{index}]": model for index, model in enumerate(submission.drafts)}
    for path, model in {"$.target": submission.target, **drafts}.items():
        total, active = model.parameters, model.active_parameters
        if total is not None and active is not None and active > total:
            message = (
                f"{active} active of {total} parameters; a model uses at most all of them, "
                "so correct one of the two"
            )
            path_of_field = f"{path}.active_parameters"
            yield Finding(path=path_of_field, message=message, rule="active-within-total")


def trial_block_planned(submission: Submission) -> Iterator[Finding]:
    """A trial belongs to one of the planned blocks."""
    blocks = submission.design.blocks
    for index, trial in enumerate(submission.trials):
        if trial.block >= blocks:
            message = (
                f"block {trial.block}, but blocks count from 0 and design.blocks is {blocks}; "
                "correct one of the two"
            )
            path = f"$.trials[{index}].block"
            yield Finding(path=path, message=message, rule="trial-block-planned")
