"""Makes the options of a command from the fields of the values that the command takes."""

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import typer

from harness.campaign import axes
from harness.options import Option
from schemas.axes import Axes

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offered:
    """A field that is offered as an option."""

    field: Field[Any]
    type: Any
    option: Option

    @property
    def flag(self) -> str:
        return self.option.flag(self.field.name)

    @property
    def repeatable(self) -> bool:
        return tuple in (get_origin(self.type), *map(get_origin, get_args(self.type)))

    def parameters(self) -> Iterator[inspect.Parameter]:
        """The parameters from which typer makes the option and its switch."""
        option = self.option
        if option.switch is not None:
            flag = f"--{option.switch.option}"
            info = typer.Option(flag, help=option.switch.help, rich_help_panel=option.panel)
            yield self._parameter(
                self._switch_name, default=False, annotation=Annotated[bool, info]
            )
        info = typer.Option(
            *filter(None, (self.flag, option.short)),
            help=option.help,
            metavar=option.metavar,
            min=None if option.words or self.repeatable else option.least,
            max=None if self.repeatable else option.most,
            rich_help_panel=option.panel,
        )
        default = None if self.repeatable else self._default()
        yield self._parameter(
            self.field.name, default=default, annotation=Annotated[self._read_as(), info]
        )

    @staticmethod
    def _parameter(name: str, *, default: Any, annotation: Any) -> inspect.Parameter:  # noqa: ANN401 - as typer reads them
        return inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )

    @property
    def _switch_name(self) -> str:
        return f"{self.field.name}_switch"

    def _read_as(self) -> Any:  # noqa: ANN401 - a type that typer understands
        if self.repeatable:
            return list[str] | None
        return str | None if self.option.words or self.option.choices else self.type

    def _default(self) -> Any:  # noqa: ANN401 - of the field's type
        return inspect.Parameter.empty if self.field.default is MISSING else self.field.default

    def taken(self, given: dict[str, Any]) -> Any:  # noqa: ANN401 - of the field's type
        """What the field gets, removed from what typer read."""
        on = given.pop(self._switch_name, False)
        return self.option.switched(self.field.name, self._value(given.pop(self.field.name)), on=on)

    def _value(self, given: Any) -> Any:  # noqa: ANN401 - as typer read it
        if self.repeatable:
            return self.option.parse(given) if given else self._default()
        if self.option.words and isinstance(given, str):
            return self.option.number(self.field.name, given)
        if self.option.choices and given is not None:
            return self.option.chosen(self.field.name, given)
        return given


@dataclass(frozen=True, slots=True)
class Without:
    """Marks a parameter of a command: these fields keep their defaults and are not offered."""

    fields: frozenset[str]


def offers_fields(command: Callable[P, T]) -> Callable[..., T]:
    """Let typer see the fields of every dataclass parameter of a command as options."""
    hints = get_type_hints(command)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    left_out = _left_out(command)
    offered = {
        name: [
            each
            for each in _offered(kind)
            if each.field.name not in left_out.get(name, frozenset())
        ]
        for name, kind in groups.items()
    }

    @functools.wraps(command)
    def wrapped(**given: Any) -> T:  # noqa: ANN401 - as typer reads them
        values = {
            name: kind(**{each.field.name: each.taken(given) for each in offered[name]})
            for name, kind in groups.items()
        }
        return command(**given, **values)  # type: ignore[call-arg]  # these are the command's names

    parameters = []
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if name in groups:
            parameters += [made for each in offered[name] for made in each.parameters()]
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    del wrapped.__wrapped__
    return wrapped


def _left_out(command: Callable[..., Any]) -> dict[str, frozenset[str]]:
    """The fields that a command does not offer, by parameter."""
    hints = get_type_hints(command, include_extras=True)
    return {
        name: mark.fields
        for name, hint in hints.items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Without)
    }


def option_names(kind: type) -> list[str]:
    """The options that the fields of a value are offered as."""
    return [each.flag for each in _offered(kind)]


def _offered(kind: Any) -> list[_Offered]:  # noqa: ANN401 - any dataclass
    """Its own fields come before those that it inherits, which fewer people need.

    Axes are inherited without an annotation; their options are in `axes.toml`.
    """
    hints = get_type_hints(kind, include_extras=True)
    inherited = axes.OPTIONS if issubclass(kind, Axes) else {}
    found = []
    for field in sorted(fields(kind), key=lambda each: each.name not in kind.__annotations__):
        hint = hints[field.name]
        options = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Option)]
        if options:
            found.append(_Offered(field=field, type=hint.__origin__, option=options[0]))
        elif field.name in inherited:
            found.append(_Offered(field=field, type=hint, option=inherited[field.name]))
        elif field.default is MISSING and field.default_factory is MISSING:
            message = f"{kind.__name__}.{field.name} has neither an Option nor a default"
            raise TypeError(message)
    return found
