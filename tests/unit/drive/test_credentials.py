import pytest

from counterpoint.drive.credentials import argv_holds_credential, looks_like_credential, names_credential

LETTERS = "a1B2" * 9
# Put together here, so that no file holds anything of the shape of a key.
SHAPES = [
    "sk-" + LETTERS,
    "sk-" + "ant-" + LETTERS,
    "ghp" + "_" + LETTERS,
    "github" + "_pat_" + LETTERS,
    "glpat" + "-" + LETTERS,
    "hf" + "_" + LETTERS,
    "xoxb" + "-" + LETTERS,
    "AKIA" + "ABCDEFGH12345678",
    "AIza" + LETTERS,
    "eyJ" + LETTERS + "." + "eyJ" + LETTERS + "." + LETTERS,
    "-----BEGIN " + "OPENSSH PRIVATE KEY" + "-----",
    "Authorization: " + "Bearer " + LETTERS,
    "https://ana:" + "hunter2@example.test/x",
]


@pytest.mark.parametrize("value", SHAPES, ids=range(len(SHAPES)))
def test_the_shape_of_a_vendors_key_is_recognised_within_a_text(value: str) -> None:
    """Ours: what vendors print in front of their keys."""
    assert looks_like_credential(value)
    assert looks_like_credential(f"x={value} ")


@pytest.mark.parametrize(
    "value",
    ["", "sk-short", "risk-" + "assessment-of-a-branch", "origin/main", "https://example.test/a:b@c", "a" * 64],
)
def test_an_ordinary_text_is_no_credential(value: str) -> None:
    """Ours: branch names, digests and addresses are settings."""
    assert not looks_like_credential(value)


@pytest.mark.parametrize(
    "name",
    ["API_KEY", "ACME_API_KEY", "api-key", "--auth-token", "dbPassword", "PGPASSWORD", "token", "X_SECRET", "apikey"],
)
def test_the_name_of_a_credential_is_recognised(name: str) -> None:
    """Ours."""
    assert names_credential(name)


@pytest.mark.parametrize("name", ["", "max_tokens", "key", "sort-key", "PUBLIC_KEY", "keyboard", "token_file", "---"])
def test_a_name_that_only_resembles_one_is_allowed(name: str) -> None:
    """Ours."""
    assert not names_credential(name)


@pytest.mark.parametrize(
    "argv",
    [
        ("a", "--token", "x"),
        ("a", "--token=x"),
        ("env", "API_KEY=x", "a"),
        ("curl", "-H", "x-api-key: abc"),
        ("a", SHAPES[0]),
    ],
)
def test_a_credential_on_a_command_line_is_found(argv: tuple[str, ...]) -> None:
    """SPEC C-111: a credential-looking argument is refused."""
    assert argv_holds_credential(argv)


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("a", "--token"),
        ("a", "--max-token", "100"),
        ("a", "--max-token=100"),
        ("a", "--token", "--next"),
        ("a", "--token-file", "x"),
        ("token", "x"),
    ],
)
def test_a_command_line_without_one_is_allowed(argv: tuple[str, ...]) -> None:
    """SPEC C-111: only what is one."""
    assert not argv_holds_credential(argv)
