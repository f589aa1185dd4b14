"""Environments built from nothing."""

import pytest

from counterpoint.isolation.environment import holds_secret, passed, secrets_in, without_secrets


def test_named_variables_are_passed_and_no_others() -> None:
    """Ours: one that is not set is left out."""
    assert passed({"A": "1", "B": "2"}, ["A", "C"]) == {"A": "1"}


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("OPENAI_API_KEY", "x", True),
        ("GITHUB_TOKEN", "x", True),
        ("db_password", "x", True),
        ("PROXY", "https://user:word@host", True),
        ("PROXY", "https://host:8080/@scope", False),
        ("LANG", "C.UTF-8", False),
    ],
)
def test_a_secret_is_told_by_its_name_or_by_a_login(name: str, value: str, *, secret: bool) -> None:
    """SECURITY S8: what is passed by allow-list holds none of these."""
    assert holds_secret(name, value) is secret


def test_secret_values_are_replaced_by_their_names() -> None:
    """SECURITY S8: an exact match, of values long enough to be one."""
    env = {"API_KEY": "0123456789", "B_TOKEN": "short", "LANG": "C.UTF-8 or so"}
    text = "key 0123456789, 0123456789; short; C.UTF-8 or so"
    assert without_secrets(text, env) == ("key [$API_KEY], [$API_KEY]; short; C.UTF-8 or so", ("API_KEY",))


@pytest.mark.parametrize(
    "text",
    [
        "key 0123/456789",
        '{"summary": "0123\\/456789"}',
        '{"a": ["\\u0030123/456789"]}',
        '{"0123\\u002f456789": 1}',
        '[[{"a": {"b": "x\\u0030123/456789"}}]]',
    ],
)
def test_a_secret_is_found_however_json_writes_it(text: str) -> None:
    """SECURITY S8: what is recorded is what was meant, not how it was written."""
    env = {"API_KEY": "0123/456789", "LANG": "0123"}
    assert secrets_in(text, env) == ("API_KEY",)
    assert secrets_in("[" * 100_000, env) == secrets_in(text.replace("456789", "45678"), env) == ()
