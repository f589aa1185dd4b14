"""`dataclass` at a fraction of the start-up cost, for what every channel command imports.

The standard module loads `inspect`, `ast` and `dis` and compiles five methods for each class; together that was a
fifth of what a post costs. Here one method is compiled. What comes out is the same as far as this package uses it:
frozen or not, slotted, keyword-only where asked, with plain defaults; compared, hashed, copied and printed by its
fields.
`dataclasses.replace`, `fields` and `asdict` work on it: the fields are made when somebody asks for them.
"""

from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool, kw_only: bool = False) -> Any:
        """Return a decorator that makes a class of the annotated fields."""
        assert slots, "the classes of this package are slotted"
        return lambda cls: _made(cls, frozen=frozen, kw_only=kw_only)


def _made(cls: Any, *, frozen: bool, kw_only: bool) -> Any:
    names = tuple(cls.__annotations__)
    own = {name: value for name, value in vars(cls).items() if name not in {"__dict__", "__weakref__"}}
    defaults = {name: own.pop(name) for name in names if name in own}
    body = {
        **own,
        "__slots__": names,
        "__match_args__": () if kw_only else names,
        "__qualname__": cls.__qualname__,
        "__init__": _initializer(names, defaults, frozen=frozen, kw_only=kw_only),
        "__dataclass_fields__": _Fields(cls.__annotations__, defaults, kw_only=kw_only),
        **_methods(attrgetter(*names), names, frozen=frozen),
    }
    return type(cls)(cls.__name__, cls.__bases__, body)


def _initializer(names: tuple[str, ...], defaults: dict[str, Any], *, frozen: bool, kw_only: bool) -> Any:
    taken = [f"{name}=_defaults[{name!r}]" if name in defaults else name for name in names]
    steps = [f" _set(self, {name!r}, {name})" if frozen else f" self.{name} = {name}" for name in names]
    lines = [f"def __init__(self, {'*, ' if kw_only else ''}{', '.join(taken)}):", *steps]
    found: dict[str, Any] = {"_defaults": defaults, "_set": object.__setattr__}
    # The names are those of annotations in this package, and nothing else of the text varies.
    exec("\n".join(lines), found)  # noqa: S102
    return found["__init__"]


def _methods(values: Any, names: tuple[str, ...], *, frozen: bool) -> dict[str, Any]:
    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash((self.__class__, values(self)))

    def shown(self: Any) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({fields})"

    def get_state(self: Any) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}

    def set_state(self: Any, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)

    methods: dict[str, Any] = {
        "__eq__": equal,
        "__hash__": hashed if frozen else None,
        "__repr__": shown,
        "__getstate__": get_state,
        "__setstate__": set_state,
    }
    return {**methods, "__setattr__": _refuse_set, "__delattr__": _refuse_delete} if frozen else methods


def _refuse_set(self: Any, name: str, value: object) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - what this module is about

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - what this module is about

    raise FrozenInstanceError(f"cannot delete field {name!r}")


class _Fields:
    """`__dataclass_fields__`, made when it is asked for."""

    def __init__(self, annotations: dict[str, Any], defaults: dict[str, Any], *, kw_only: bool) -> None:
        self.annotations = annotations
        self.defaults = defaults
        self.kw_only = kw_only
        self.made: Any = None

    def __get__(self, instance: object, owner: type) -> Any:
        if self.made is not None:
            return self.made
        from dataclasses import field, make_dataclass  # noqa: PLC0415 - what this module is about

        given = [
            (name, kind, field(default=self.defaults[name]) if name in self.defaults else field())
            for name, kind in self.annotations.items()
        ]
        twin: Any = make_dataclass(owner.__name__, given, kw_only=self.kw_only)
        self.made = twin.__dataclass_fields__
        return self.made
