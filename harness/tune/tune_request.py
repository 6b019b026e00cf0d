"""Runs a tune: builds its stages for the chosen engine, writes the result, prints the report."""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import typer

from answers.engine_commands import ServeLine, serve_nearest
from answers.engine_table import engine_called
from harness import PROGRAM, console, features
from harness.campaign.arms import BASELINE, arms, takes_draft
from harness.campaign.from_options import draft_names, usable_methods
from harness.campaign.method_parser import as_text, parse
from harness.campaign.model import DEFAULT_CONTEXT_TOKENS, ArmPlan, Campaign, RunSettings
from harness.command_options import option_names
from harness.errors import INTERRUPTED, BadInputError
from harness.machine.checkout import commit
from harness.machine.command_line import pasted, split_command
from harness.machine.detect import machine
from harness.machine.environment import Watch
from harness.report import words
from harness.report.events import Event
from harness.report.expected_time import expected, this_machine
from harness.report.progress import ProgressDisplay
from harness.report.settings_file import SettingsFileOptions
from harness.run import preflight
from harness.run.chosen_engine import ChosenEngine
from harness.run.execute import RunContext
from harness.run.next_step import OUTPUT, RESUME, given_words, resume_command
from harness.run.request import RunRequest
from harness.run.time_limit import budget_for, too_short
from harness.runners.base import Runner
from harness.tune import report
from harness.tune.options import USUAL_MIN, SearchOptions
from harness.tune.outcome import Outcome, as_json, recommended
from harness.tune.search import (
    LEAST_TRIALS,
    Family,
    Prompts,
    StageName,
    families,
    split,
    stage,
)
from harness.tune.tuner import Tuner
from schemas.codec import Json, encode
from schemas.method import Method
from schemas.rig import LLAMA_CPP
from schemas.vocabulary import METHODS, say

_DEPTH = "{depth}"
# Arguments that are for measuring only: first those with a value, then flags.
_MEASURING = frozenset({"--host", "--port", "-np", "-b", "-ub", "--cache-ram", "-lv"})
_ALONE = frozenset({"--no-webui", "--metrics"})
_STAGES: Mapping[StageName, str] = {"look": "1 look", "race": "2 race", "certificate": "3 certify"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """The engine of a tune; in each stage, its servers (if any) run at the stage's depths."""

    chosen: ChosenEngine
    families: Sequence[Family]

    def at(self, campaign: Campaign) -> tuple[Campaign, Runner]:
        """Return the stage's campaign, adapted to the engine, and the runner that measures it."""
        engine = self._with_depths(campaign)
        return engine.on(campaign), engine.adapter().open

    def command(self, campaign: Campaign, arm: ArmPlan) -> ServeLine | None:
        """Return the command for daily use of an arm; `None` for servers that already run."""
        lines = self._with_depths(campaign).commands(campaign)
        behind_servers = self.chosen.kind.behind_servers
        if lines:
            given = split_command(lines[campaign.arms.index(arm)].replace("{port}", "8000"))
            daily = given if behind_servers else _for_daily_use(given, campaign.settings)
            return ServeLine(words=tuple(daily), engine=self.engine)
        if behind_servers:
            return None
        paths = {draft.model.id: draft.path for draft in campaign.drafts}
        draft = paths.get(arm.method.draft or "")
        served = serve_nearest(
            self.chosen.kind.engine_label or LLAMA_CPP,
            str(campaign.target.path or campaign.target.model.name),
            None if draft is None else str(draft),
            arm.method,
        )
        server = self.chosen.server()
        if served is None or server is None or served.engine != LLAMA_CPP:
            return served
        return replace(served, words=(server, *served.words[1:]))

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
        limit_s, whole_s = self._expected(base, families, prompts)
        if whole_s is not None:
            console.say(f"This takes about {words.seconds(whole_s)}.")
        shown = ProgressDisplay(console.progress_console())
        with console.interruptible(), shown as display:

            def observe(stage: StageName, event: Event, left_s: float | None) -> None:
                display(event, name=_STAGES[stage], left_s=left_s)

            tuner = Tuner(
                on_engine=stages.at,
                base=base,
                families=families,
                prompts=prompts,
                limit_s=limit_s,
                grows=self.search.budget_min is None,
                context=RunContext(machine=machine(), snapshot=Watch().snapshot, commit=commit()),
                observe=observe,
                say=console.say,
                resume=self.result.resume,
            )
            outcome = tuner.run()
        self._finish(outcome, stages, tuner)

    def _finish(self, outcome: Outcome, stages: Stages, tuner: Tuner) -> None:
        path = self.write(outcome.submission)
        command = None
        if outcome.verdict is not None and outcome.leader is not None:
            campaign = tuner.campaigns["certificate"]
            pick = outcome.leader.arm.id if recommended(outcome) else BASELINE
            arm = next(each for each in campaign.arms if each.id == pick)
            command = stages.command(campaign, arm)
        if self.result.json:
            console.print_json(as_json(outcome, command=command, path=path))
        else:
            console.print_lines(report.lines(outcome, command=command))
        console.say(f"Result: {path}")
        if self.settings.write is not None:
            saved = self.settings.save(command, stages.chosen.server()) if command else None
            console.say(saved or f"Nothing written to {self.settings.write}: no setting was chosen")
        minutes = tuner.elapsed.limit_s / 60
        if outcome.interrupted:
            left = math.ceil(max(1.0, minutes - tuner.elapsed.spent_s() / 60))
            console.say(f"Next, about {left} min: {resume_command(RESUME)}")
            raise typer.Exit(INTERRUPTED)
        if outcome.certified:
            tuner.forget()
            if outcome.leader is not None and not stages.chosen.kind.behind_servers:
                console.say(f"To measure it again: {run_again(outcome.leader.arm.method)}")
        else:
            following = resume_command(RESUME, "--budget", f"{2 * minutes:g}")
            console.say(f"Next, about {minutes:g} min: {following}")

    def print_plan(self) -> None:
        """Print the candidates of a tune without fetching or measuring."""
        self.check()
        base, families = self._base(fetch=False)
        prompts = split(base.suite.prompts)
        limit_s, whole_s = self._expected(base, families, prompts)
        depths = {family.name: sorted(family.arms) for family in families}
        if self.result.json:
            plan: dict[str, Json] = {
                "depths": encode(depths),
                "race_prompts": len(prompts.race),
                "certificate_prompts": len(prompts.certificate),
                "budget_s": limit_s,
                "expected_s": whole_s,
            }
            console.print_json(plan)
            return
        screen = console.result_console()
        for name, tried in depths.items():
            span = f"depth {tried[0]} to {tried[-1]}" if len(tried) > 1 else "as it is"
            screen.print(f"{name}: {span}", markup=False)
        screen.print(
            f"race on {say.count(len(prompts.race), 'prompt')}, certificate on "
            f"{len(prompts.certificate)} others, within {words.seconds(limit_s)}"
        )
        if whole_s is not None:
            screen.print(f"expected  about {words.seconds(whole_s)}")
        for line in features.part("answer").answer_lines(base.target.model):
            screen.print(line, markup=False)

    def _expected(
        self, base: Campaign, families: Sequence[Family], prompts: Prompts
    ) -> tuple[float, float | None]:
        """Return the time limit and the expected time in seconds.

        Without --budget, the limit covers at least the smallest tune; else `BadInputError` is
        raised for too short a limit. The expected time is `None` if a model's size is unknown or a
        GPU is used.
        """
        limit_s = 60 * (self.search.budget_min or USUAL_MIN)
        if machine().gpus and base.settings.gpu_layers:  # the rate applies to the CPU only
            return limit_s, None
        probed = base.interleaved == "prompt"
        scouts = [arm for each in families for arm in each.scouts(probed=probed)]
        look = expected(
            stage(base, scouts, prompts.race, blocks=1), this_machine(base.settings.threads)
        )
        if look is None:
            return limit_s, None
        answer_s = look.token_s * base.settings.max_output_tokens
        least_s = look.seconds / (len(prompts.race) if probed else 1) + 2 * LEAST_TRIALS * answer_s
        if least_s > limit_s and self.search.budget_min is not None:
            what = f"the smallest tune of {base.target.model.name}"
            instead = f"give --budget {budget_for(least_s)}, or fewer --max-tokens"
            raise too_short(limit_s, what, least_s, "on this processor", instead)
        if least_s > limit_s:
            limit_s = 60 * float(budget_for(least_s))
        later = prompts.race_trials + prompts.certificate_trials
        return limit_s, min(limit_s, look.seconds + later * answer_s)

    def _base(self, *, fetch: bool) -> tuple[Campaign, tuple[Family, ...]]:
        """Return models and settings as a campaign, and the families that the engine may run."""
        engine = self.engines[0]
        base = engine.campaign(self.options, fetch=fetch)
        for line in preflight.ready(engine, base):
            console.say(line)
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


def _for_daily_use(words: Sequence[str], settings: RunSettings) -> Iterator[str]:
    """Return a server's arguments, except those used only for measuring or with default values."""
    # On a CPU the figures are valid for this number of threads; an engine's default may differ.
    left_out = {*_MEASURING, "-tb", *(("-t",) if machine().gpus and not settings.threads else ())}
    left_out |= {"-c"} if settings.context_tokens == DEFAULT_CONTEXT_TOKENS else set()
    return given_words(words, alone=_ALONE, valued=left_out)


def run_again(method: Method) -> str:
    """Return the `run` command that measures one of a tune's methods again."""
    valued = (*OUTPUT, "--method", *option_names(SearchOptions))
    valued += () if takes_draft(method) else ("--draft", "-md")
    given = given_words(sys.argv[2:], alone={RESUME}, valued=valued)
    return pasted([*PROGRAM.split(), "run", *given, "--method", as_text(method)])
