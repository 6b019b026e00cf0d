"""Makes the options of a command from the fields of the values that the command takes."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Annotated, Any, ParamSpec, TypeVar, get_origin, get_type_hints

import typer

from harness.options import Option

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
        return get_origin(self.type) is tuple

    def parameter(self) -> inspect.Parameter:
        """The parameter from which typer makes the option."""
        option = self.option
        info = typer.Option(
            *filter(None, (self.flag, option.short)),
            help=option.help,
            metavar=option.metavar,
            min=None if option.words else option.least,
            max=option.most,
            rich_help_panel=option.panel,
        )
        return inspect.Parameter(
            self.field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None if self.repeatable else self._default(),
            annotation=Annotated[self._read_as(), info],
        )

    def _read_as(self) -> Any:  # noqa: ANN401 - a type that typer understands
        if self.repeatable:
            return list[str] | None
        return str | None if self.option.words else self.type

    def _default(self) -> Any:  # noqa: ANN401 - of the field's type
        return inspect.Parameter.empty if self.field.default is MISSING else self.field.default

    def value(self, given: Any) -> Any:  # noqa: ANN401 - of the field's type
        """What the field gets for the value that typer read."""
        if self.option.words and isinstance(given, str):
            return self.option.number(self.field.name, given)
        return self.option.parse(given or ()) if self.repeatable else given


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
        values = {name: kind(**_taken(given, offered[name])) for name, kind in groups.items()}
        return command(**given, **values)  # type: ignore[call-arg]  # these are the command's names

    parameters = []
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if name in groups:
            parameters += [each.parameter() for each in offered[name]]
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
    """Its own fields come before those that it inherits, which fewer people need."""
    hints = get_type_hints(kind, include_extras=True)
    found = []
    for field in sorted(fields(kind), key=lambda each: each.name not in kind.__annotations__):
        hint = hints[field.name]
        options = [each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Option)]
        if options:
            found.append(_Offered(field=field, type=hint.__origin__, option=options[0]))
        elif field.default is MISSING and field.default_factory is MISSING:
            message = f"{kind.__name__}.{field.name} has neither an Option nor a default"
            raise TypeError(message)
    return found


def _taken(given: dict[str, Any], offered: list[_Offered]) -> Mapping[str, Any]:
    """The fields of one value, removed from what typer read."""
    return {each.field.name: each.value(given.pop(each.field.name)) for each in offered}
