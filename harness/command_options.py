"""Derives the options of a command from the fields of its dataclass parameters."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import typer

from harness.campaign import axis_options
from harness.errors import BadInputError
from harness.options import Option
from schemas.submission import Axes

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Without:
    """Annotates a command's parameter: the named fields keep their defaults and get no option."""

    fields: frozenset[str]


@dataclass(frozen=True, slots=True)
class Says:
    """Annotates a command's parameter: overrides the help text of the named fields."""

    helps: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offered:
    field: Field[Any]
    type: Any
    option: Option

    @property
    def flag(self) -> str:
        return self.option.flag(self.field.name)

    def saying(self, helps: Iterable[Mapping[str, str]]) -> "_Offered":
        """Return the option with the first help text that the mappings have for it, if any."""
        text = next((each[self.field.name] for each in helps if self.field.name in each), None)
        return self if text is None else replace(self, option=replace(self.option, help=text))

    @property
    def repeatable(self) -> bool:
        return tuple in (get_origin(self.type), *map(get_origin, get_args(self.type)))

    @property
    def _number(self) -> object:
        """`int` or `float` if the option takes a single number, else `None`."""
        kinds = {self.type, *get_args(self.type)} & {int, float}
        parsed = self.option.parse or self.option.choices or self.repeatable
        return None if parsed or len(kinds) != 1 else kinds.pop()

    @property
    def _is_path(self) -> bool:
        """Whether the value is a path; as text, an empty one differs from the current folder."""
        return Path in (self.type, *get_args(self.type))

    @property
    def _argument_name(self) -> str:
        return f"{self.field.name}_argument"

    def parameters(self, *, whole: bool) -> Iterator[inspect.Parameter]:
        """Yield an option's typer parameters; rarely used ones are hidden unless `whole` is set."""
        option, read_as, default = self.option, self.type, self.field.default
        if option.argument:
            word = typer.Argument(metavar=option.metavar, show_default=False, hidden=True)
            yield _parameter(self._argument_name, str | None, word, default=None)
        if self.repeatable:
            read_as, default = list[str] | None, None
        elif option.parse or option.choices or self._number or self._is_path:
            read_as = str | None
        info = typer.Option(
            *filter(None, (self.flag, option.short)),
            help=option.help,
            metavar=option.metavar,
            rich_help_panel=option.panel,
            hidden=not (option.usual or whole),
            # An absolute path is right on this machine only; the help text describes the default
            # instead.
            show_default=not (isinstance(default, Path) and default.is_absolute()),
        )
        default = inspect.Parameter.empty if default is MISSING else default
        yield _parameter(self.field.name, read_as, info, default=default)

    def taken(self, given: dict[str, Any]) -> Any:  # noqa: ANN401 - of the field's type
        """Remove this field's value from the values that typer parsed, and return it converted."""
        value = given.pop(self.field.name)
        word = given.pop(self._argument_name, None)
        if word and value:
            first = value[0] if self.repeatable else value
            raise BadInputError(
                f"{self.flag} is given twice, as {first} and as {word}: leave out one of the two"
            )
        if word:
            value = [word] if self.repeatable else word
        if value == "" or (self.repeatable and "" in (value or ())):
            raise BadInputError(
                f"{self.flag} is empty; leave it out, or give {self.option.metavar}"
            )
        if value is None or (self.repeatable and not value):
            return self.field.default
        if self.option.choices:
            return self.option.chosen(self.field.name, value)
        if self.option.parse or self.repeatable:
            return (self.option.parse or tuple)(value)
        if self._number:
            return self.option.number(self.field.name, str(value), whole=self._number is int)
        return Path(value) if self._is_path else value


def _parameter(name: str, kind: Any, info: Any, *, default: Any) -> inspect.Parameter:  # noqa: ANN401 - as typer reads them
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=Annotated[kind, info])


def offers_fields(command: Callable[P, T]) -> Callable[..., T]:
    """Turn the fields of a command's dataclass parameters into typer options."""
    hints = get_type_hints(command, include_extras=True)
    kinds = {name: getattr(hint, "__origin__", hint) for name, hint in hints.items()}
    marks = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    left_out = {
        name: {field for mark in marks[name] if isinstance(mark, Without) for field in mark.fields}
        for name in hints
        if is_dataclass(kinds[name])
    }
    said = [mark.helps for some in marks.values() for mark in some if isinstance(mark, Says)]
    offered = {
        name: [each.saying(said) for each in _offered(kinds[name]) if each.field.name not in fields]
        for name, fields in left_out.items()
    }

    @functools.wraps(command)
    def wrapped(**given: Any) -> T:  # noqa: ANN401 - as typer reads them
        values = {
            name: kinds[name](**{each.field.name: each.taken(given) for each in fields})
            for name, fields in offered.items()
        }
        return command(**given, **values)  # type: ignore[call-arg]  # these are the command's names

    whole = not any(each.option.usual for options in offered.values() for each in options)
    parameters = []
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if name in offered:
            parameters += [made for each in offered[name] for made in each.parameters(whole=whole)]
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    del wrapped.__wrapped__
    return wrapped


def option_names(kind: type) -> list[str]:
    """Return the flags of all fields that a dataclass offers as options."""
    return [each.flag for each in _offered(kind)]


def _offered(kind: Any) -> list[_Offered]:  # noqa: ANN401 - any dataclass
    """Return the fields offered as options: the class's own, then inherited ones (rarely used).

    The fields of axes are inherited and have no annotation; `axes.toml` defines their options.
    """
    known = {**axis_options.OPTIONS} if issubclass(kind, Axes) else {}
    known |= {each.name: each.metadata["option"] for each in fields(kind) if each.metadata}
    hints = get_type_hints(kind)
    return [
        _Offered(field=each, type=hints[each.name], option=known[each.name])
        for each in sorted(fields(kind), key=lambda each: each.name not in kind.__annotations__)
        if each.name in known
    ]
