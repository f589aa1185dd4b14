"""The quick dataclass against the standard one: what holds of one holds of the other (SPEC C-154)."""

import copy
import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import pytest

from counterpoint import frozen


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    a: int
    b: str = "b"


@frozen.dataclass(frozen=True, slots=True, kw_only=True)
class Quick:
    a: int
    b: str = "b"


@frozen.dataclass(slots=True)
class Mutable:
    a: int
    b: str = "b"

    def doubled(self) -> int:
        return self.a * 2


@pytest.mark.parametrize("kind", [Standard, Quick])
def test_values_are_compared_hashed_copied_and_printed_by_their_fields(kind: Any) -> None:
    one = kind(a=1)
    assert (one.a, one.b) == (1, "b")
    assert one == kind(a=1, b="b") != kind(a=2)
    assert len({one, kind(a=1), kind(a=2)}) == 2
    assert one != (1, "b")
    assert repr(one) == f"{kind.__name__}(a=1, b='b')"
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert dataclasses.replace(one, b="c") == kind(a=1, b="c")
    assert dataclasses.asdict(one) == {"a": 1, "b": "b"}
    assert [field.name for field in dataclasses.fields(kind)] == ["a", "b"]


@pytest.mark.parametrize("kind", [Standard, Quick])
def test_a_frozen_value_takes_no_assignment(kind: Any) -> None:
    one = kind(a=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.a = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del one.a
    # The standard one stumbles over its own slots here.
    with pytest.raises((AttributeError, TypeError)):
        one.other = 2
    with pytest.raises(TypeError):
        kind(1)
    with pytest.raises(TypeError):
        kind(b="b")


def test_a_mutable_value_is_assigned_to_and_not_hashed() -> None:
    one = Mutable(1)
    one.a = 4
    assert (one, one.doubled()) == (Mutable(4, "b"), 8)
    with pytest.raises(TypeError):
        hash(one)
    match one:
        case Mutable(a, b):
            assert (a, b) == (4, "b")


def test_a_post_loads_no_standard_dataclass() -> None:
    """That, with what it loads, was a fifth of what a post costs (SPEC C-154)."""
    program = "import sys, counterpoint.cli.channel.post; print({'dataclasses', 'click'} & sys.modules.keys())"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "set()\n"
