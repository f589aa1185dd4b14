"""Whatever stands in a source of settings, `load` returns whole settings or raises `ConfigError`."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from counterpoint.drive.config import REPOSITORY_FILES, RepositoryFiles, load
from counterpoint.drive.keys import AGENT_KEYS, KEYS
from counterpoint.drive.settings import Settings, explain
from counterpoint.errors import ConfigError

WORDS = sorted(
    {part for key in KEYS for part in key.path.split(".")}
    | {name for keys in AGENT_KEYS.values() for name in keys}
    | {"agents", "kind", "tool", "counterpoint", "critic", "checks", *AGENT_KEYS}
)
SCRAPS = ["[", "]", "[[", "]]", "{", "}", ".", ",", "=", " = ", "\n", '"', "'", '"""', "#", "\\u0000", "true", "nan"]
SCRAPS += ["0", "-1", "9" * 20, "1e9", "1979-05-27", "07:32:00", "'a b'", '"checks"', "[]", "[[]]", "{}", "\t", "é"]


def hold(files: Mapping[str, bytes], environment: Mapping[str, str] | None = None) -> None:
    """Load, and hold what comes of it to be whole settings or an error that can be printed."""
    repository = RepositoryFiles(commit="0" * 40, at_base=files)
    try:
        found = load(flags={}, environment=environment or {}, settings_file=Path("/nowhere"), repository=repository)
    except ConfigError as error:
        refusal = error
    else:
        assert all(row.value.encode() for row in explain(found.settings))
        return
    assert refusal.path
    assert refusal.hint
    assert str(refusal).isprintable()


TOML_LIKE = st.lists(st.sampled_from(WORDS) | st.sampled_from(SCRAPS) | st.text(max_size=3), max_size=40).map("".join)


def _toml(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in value.items()) + "}"
        case list():
            return "[" + ", ".join(_toml(inner) for inner in value) + "]"
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + "".join(f"\\U{ord(character):08x}" for character in value) + '"'
        case _:
            return str(value)


TEXTS = st.sampled_from(["checks", "critic", "command", "scripted", "file", "tree", "a b", "/x", "-x", ""]) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=8
)
SCALARS = TEXTS | st.integers() | st.booleans() | st.floats()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | TEXTS, inner, max_size=4),
    max_leaves=12,
)


def _table(keys: Mapping[str, object] | set[str]) -> st.SearchStrategy[dict[str, object]]:
    return st.dictionaries(st.sampled_from(sorted(keys)), VALUES, max_size=4)


AGENT = st.fixed_dictionaries(
    {"kind": st.sampled_from([*map(str, AGENT_KEYS)])},
    optional={key: VALUES for keys in AGENT_KEYS.values() for key in keys},
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        section: _table({key.path.partition(".")[2] for key in KEYS if key.path.startswith(section)}) | VALUES
        for section in ("review", "checks", "limits")
    }
    | {"agents": st.dictionaries(TEXTS, AGENT | VALUES, max_size=3) | VALUES},
)


@given(st.binary(max_size=200) | TOML_LIKE.map(str.encode), st.sampled_from(REPOSITORY_FILES))
@example(b"\xff\xfe", "counterpoint.toml")
@example(b"a = " + b"[" * 5000, "counterpoint.toml")
@example(b"a" + b".a" * 400 + b" = 1", "counterpoint.toml")
@example(b"tool.counterpoint" + b".a" * 400 + b" = 1", "pyproject.toml")
def test_no_bytes_raise_anything_but_a_config_error(content: bytes, name: str) -> None:
    """Issue 2: every error names the key path and what was expected."""
    hold({name: content})


@given(DOCUMENTS)
def test_no_document_raises_anything_but_a_config_error(document: dict[str, object]) -> None:
    """Issue 2: documents of the right form with values of the wrong one."""
    text = "\n".join(f"{_toml(key)} = {_toml(value)}" for key, value in document.items())
    hold({"counterpoint.toml": text.encode()})


@given(TOML_LIKE, TOML_LIKE)
def test_no_working_copy_stops_a_run(here: str, project: str) -> None:
    """DESIGN "Trust": the working copy is named where it differs, and nothing else comes of it."""
    working = {"counterpoint.toml": here.encode(), "pyproject.toml": f"# counterpoint\n{project}".encode()}
    repository = RepositoryFiles(commit="0" * 40, at_base={}, in_working_copy=working)
    found = load(flags={}, environment={}, settings_file=None, repository=repository)
    assert found.settings == Settings()
    assert all(notice.isprintable() for notice in found.notices)


VARIABLES = st.sampled_from(
    [key.variable for key in KEYS if key.variable] + ["COUNTERPOINT_LIMITS_X", "COUNTERPOINT_"]
)


@given(st.dictionaries(VARIABLES, st.text(max_size=12) | st.integers().map(str), max_size=4))
def test_no_environment_raises_anything_but_a_config_error(environment: dict[str, str]) -> None:
    """Issue 2 point 4; variables can hold lone surrogates, which stand for bytes that are not UTF-8."""
    hold({}, environment)


@pytest.mark.soak
@given(st.binary(max_size=400) | TOML_LIKE.map(str.encode) | DOCUMENTS.map(_toml).map(str.encode))
def test_no_bytes_raise_anything_but_a_config_error_for_long(content: bytes) -> None:
    """As above, over thousands of documents."""
    hold({"counterpoint.toml": content})
    hold({"pyproject.toml": b"tool.counterpoint = " + content})
