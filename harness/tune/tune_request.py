"""Runs a tune: builds its stages for the chosen engine, writes the result, prints the report."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import typer

from harness import console
from harness.campaign.arms import arms, takes_draft
from harness.campaign.from_options import draft_names, usable_methods
from harness.campaign.method_parser import parse
from harness.campaign.model import Campaign
from harness.errors import INTERRUPTED, BadInputError
from harness.machine.checkout import commit
from harness.machine.detect import machine
from harness.machine.environment import Watch
from harness.report import brief, use, words
from harness.report.progress import ProgressDisplay
from harness.report.settings_file import SettingsFileOptions
from harness.run import preflight
from harness.run.chosen_engine import ChosenEngine
from harness.run.execute import RunContext
from harness.run.next_step import RESUME, resume_command
from harness.run.request import RunRequest
from harness.runners.base import Runner
from harness.tune.options import USUAL_MIN, SearchOptions
from harness.tune.outcome import Outcome, as_json, lines
from harness.tune.search import (
    Family,
    StageName,
    families,
    split,
)
from harness.tune.tuner import Tuner
from planner.engine_table import engine_called
from schemas.codec import Json, encode
from schemas.method import Method
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import METHODS, say

_DEPTH = "{depth}"
_STAGES: Mapping[StageName, str] = {
    "look": "1 look: the largest depth",
    "certificate": "2 certify: the best forecasts, on other prompts",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The engine of a tune; in each stage, its servers (if any) run at the stage's depths."""

    chosen: ChosenEngine
    families: Sequence[Family]

    def at(self, campaign: Campaign) -> tuple[Campaign, Runner]:
        """Return the stage's campaign, adapted to the engine, and the runner that measures it."""
        engine = self._with_depths(campaign)
        return engine.on(campaign), engine.adapter().open

    @property
    def engine(self) -> str | None:
        """The engine whose words the commands have; `None` for a server that is not listed."""
        label = self.chosen.kind.engine_label or self.chosen.connection.server_command
        return engine_called(label or "")

    def _with_depths(self, campaign: Campaign) -> ChosenEngine:
        """Return the engine with one server for each speculating arm, at the arm's depth."""
        connection = self.chosen.connection
        if not connection.spec_server_commands and not connection.spec_base_urls:
            return self.chosen
        numbers = {
            arm.id: (number, depth)
            for number, family in enumerate(self.families)
            for depth, arm in family.arms.items()
        }
        depths = [numbers[arm.id] for arm in campaign.arms if arm.id in numbers]
        commands, urls = connection.spec_server_commands, connection.spec_base_urls
        started = (commands[n].replace(_DEPTH, str(depth)) for n, depth in depths if commands)
        running = (urls[n] for n, _ in depths if urls)
        at_depths = replace(
            connection, spec_server_commands=tuple(started), spec_base_urls=tuple(running)
        )
        return replace(self.chosen, connection=at_depths)


@dataclass(frozen=True, slots=True, kw_only=True)
class TuneRequest(RunRequest):
    search: SearchOptions
    settings: SettingsFileOptions

    def check(self) -> None:
        """Raise `HarnessError` for options that are invalid whatever the model."""
        engine = Stages(chosen=self.engines[0], families=()).engine
        if self.settings.write and engine is None:
            raise BadInputError(
                "--write needs a server that the tune starts and whose settings file is known: "
                "give --server-command 'vllm serve …'"
            )
        self.settings.engine(engine)
        super(TuneRequest, self).check()

    def measure(self) -> None:
        """Tune, write the result, print the report."""
        self.check()
        base, families = self._base(fetch=True)
        stages = Stages(chosen=self.engines[0], families=families)
        if stages.engine == LLAMA_CPP:
            self.settings.preset(base.target.on_disk.stem)
        prompts = split(base.suite.prompts)
        console.say(f"This takes at most about {words.seconds(self._limit_s)}.")

        def show(stage: StageName) -> ProgressDisplay:
            console.say(_STAGES[stage])
            return ProgressDisplay(console.progress_console())

        with console.interruptible():
            tuner = Tuner(
                on_engine=stages.at,
                base=base,
                families=families,
                prompts=prompts,
                limit_s=self._limit_s,
                grows=self.search.budget_min is None,
                context=RunContext(machine=machine(), snapshot=Watch().snapshot, commit=commit()),
                show=show,
                say=console.say,
                resume=self.result.resume,
            )
            outcome = tuner.run()
        self._finish(outcome, stages, tuner)

    def _finish(self, outcome: Outcome, stages: Stages, tuner: Tuner) -> None:
        submission, path = outcome.submission, self.write(outcome.submission)
        base, server = tuner.base, stages.chosen.server()
        local_files = use.LocalFiles(files=base.files(), server=server)
        if self.result.json:
            summary = cast("dict[str, Json]", encode(outcome.summary))
            console.print_json({"result": str(path), **summary, **as_json(outcome)})
        else:
            screen = console.result_console()
            brief.show(submission, outcome.summary, screen, path=path, local_files=local_files)
            console.print_lines(("", *lines(outcome)))
        console.say(f"Result: {path}")
        if self.settings.write is not None:
            pick = outcome.pick.arm if outcome.pick else None
            line = use.serve_line(submission, pick, local_files) if outcome.certified else None
            saved = self.settings.save(line, server) if line else None
            console.say(saved or f"Nothing written to {self.settings.write}: no setting was chosen")
        minutes = tuner.elapsed.limit_s / 60
        if outcome.interrupted:
            left = math.ceil(max(1.0, minutes - tuner.elapsed.spent_s() / 60))
            console.say(f"Next, about {left} min: {resume_command(RESUME)}")
            raise typer.Exit(INTERRUPTED)
        if outcome.certified:
            tuner.forget()
        else:
            following = resume_command(RESUME, "--budget", f"{2 * minutes:g}")
            console.say(f"Next, about {minutes:g} min: {following}")

    def print_plan(self) -> None:
        """Print the candidates of a tune without fetching or measuring."""
        self.check()
        base, families = self._base(fetch=False)
        prompts = split(base.suite.prompts)
        depths = {family.name: sorted(family.arms) for family in families}
        if self.result.json:
            plan: dict[str, Json] = {
                "depths": encode(depths),
                "look_prompts": len(prompts.look),
                "certificate_prompts": len(prompts.certificate),
                "budget_s": self._limit_s,
            }
            console.print_json(plan)
            return
        screen = console.result_console()
        for name, tried in depths.items():
            span = f"depth {tried[0]} to {tried[-1]}" if len(tried) > 1 else "as it is"
            screen.print(f"{name}: {span}", markup=False)
        screen.print(
            f"look at {say.count(len(prompts.look), 'prompt')}, certificate on "
            f"{len(prompts.certificate)} others, within {words.seconds(self._limit_s)}"
        )

    @property
    def _limit_s(self) -> float:
        """The time limit in seconds; without --budget, it may grow once the pace is known."""
        return 60 * (self.search.budget_min or USUAL_MIN)

    def _base(self, *, fetch: bool) -> tuple[Campaign, tuple[Family, ...]]:
        """Return models and settings as a campaign, and the families that the engine may run."""
        engine = self.engines[0]
        base = engine.campaign(self.options, fetch=fetch)
        for line in preflight.ready(engine, base):
            console.say(line)
        seen = engine.adapter().seen(base) if engine.kind.reads_gguf else None
        if self.settings.write and seen and engine_called(seen.name) is None:  # a fork
            raise BadInputError(f"--write: {seen.name} reads no settings file; leave out --write")
        names = draft_names(self.options, engine.kind)
        methods = usable_methods(self.options, names, engine.kind)
        if not self.options.methods:
            methods += tuple(_chains(engine, base, methods))
        commands = engine.connection.spec_server_commands
        fixed = engine.kind.behind_servers and not any(_DEPTH in each for each in commands)
        found = families(methods, base.drafts, deepest=self.search.deepest, fixed=fixed)
        return base, found


def _chains(engine: ChosenEngine, base: Campaign, methods: Sequence[Method]) -> Iterator[Method]:
    """Yield each drafter together with n-grams, if the engine drafts with several methods."""
    kinds = (METHODS[method.type] for method in methods)
    grams = next((kind.id for kind in kinds if kind.free and kind.llama_cpp), None)
    for method in filter(takes_draft, methods) if grams else ():
        chain = parse(f"{grams}+{method.type}")
        try:
            engine.commands(replace(base, arms=arms((chain,), base.drafts)))
        except BadInputError:
            continue
        yield chain
