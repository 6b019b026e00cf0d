"""Give each weights file the same name in all results; the file's SHA-256 identifies it."""

from collections.abc import Mapping
from dataclasses import replace

import orjson

from estimates.identity import identify
from pipeline.collection.plausibility.corpus import CorpusEntry
from schemas.submission import Model, Submission


def renamed(entry: CorpusEntry, names: Mapping[str, tuple[str, str]]) -> CorpusEntry:
    """A submission's entry with its models renamed by `names`, which maps file digests to names."""
    stated = entry.submission
    drafts = tuple(_named(draft, names) for draft in stated.drafts)
    submission = replace(stated, target=_named(stated.target, names), drafts=drafts)
    if submission == stated:
        return entry
    identity = identify(submission)
    # The depths come from trials, which an entry no longer has.
    settings = tuple(
        replace(new, depths=old.depths)
        for new, old in zip(identity.settings, entry.identity.settings, strict=True)
    )
    target = identity.target, identity.quantisation
    return replace(
        entry,
        submission=submission,
        identity=replace(identity, settings=settings),
        speed=entry.speed and replace(entry.speed, target=target),
    )


def renamed_text(text: str, submission: Submission) -> str:
    """A file's JSON text, with its models' names replaced by those in the submission."""
    document = orjson.loads(text)
    models = zip(
        (document["target"], *document["drafts"]),
        (submission.target, *submission.drafts),
        strict=True,
    )
    for stated, model in models:
        stated |= {"name": model.name, "quantisation": model.quantisation}
    return orjson.dumps(document).decode()


def _named(model: Model, names: Mapping[str, tuple[str, str]]) -> Model:
    name, quantisation = names.get(model.sha256 or "", (model.name, model.quantisation))
    return replace(model, name=name, quantisation=quantisation)
