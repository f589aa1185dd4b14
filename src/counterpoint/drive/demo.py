"""The demo's material: a small repository with a bug on a branch, a scripted critic, an author of twenty lines.

Authors and dates are fixed, so that the commits have the same ids everywhere.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from counterpoint.errors import SourceError

__all__ = ["BRANCH", "CRITIC", "MENDER", "TAMPERED", "build_repository", "build_settings"]

BRANCH: Final = "round-totals"
CRITIC: Final = "critic"
MENDER: Final = "mender"

_PRICE: Final = '''\
"""Prices in cents."""


def total(prices, discount_percent=0):
    """Return the sum after the discount, rounded down to whole cents."""
    gross = sum(prices)
    return gross - gross * discount_percent // 100
'''
_BUG: Final = '''\
"""Prices in cents."""


def total(prices, discount_percent=0):
    """Return the sum after the discount, rounded down to whole cents."""
    gross = sum(prices[1:])
    return int(gross * (1 - discount_percent / 100))
'''
_TESTS: Final = """\
import unittest

from price import total


class TotalTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([100, 250]), 350)

    def test_discount(self):
        self.assertEqual(total([200], discount_percent=10), 180)

    def test_nothing(self):
        self.assertEqual(total([]), 0)


if __name__ == "__main__":
    unittest.main()
"""
_CRITIC: Final = """\
[[reply]]
seat = "critic"
round = 1
model = "a script"

[reply.answer]
summary = "Close, but the rounding is wrong, and an empty list divides by zero."
responseToRebuttal = ""
approved = false

[[reply.answer.findings]]
id = "F1"
severity = "major"
status = "open"
location = "price.py:7"
quote = "return int(gross * (1 - discount_percent / 100))"
issue = "A float decides about cents: int() cuts off what floating point lost."
suggestion = "stay with integers, as before"

[[reply.answer.findings]]
id = "F2"
severity = "blocking"
status = "open"
location = "price.py:9"
quote = "return gross / len(prices)"
issue = "This divides by zero for an empty list."
suggestion = "return 0 for an empty list"

[[reply.answer.claims]]
statement = "I ran the tests, and all of them pass."
command = "COMMAND"
passes = true

[[reply]]
seat = "critic"
round = 2
model = "a script"

[reply.answer]
summary = "Whole cents again. The second finding was mine to take back."
responseToRebuttal = "There is no such line."
approved = true

[[reply.answer.findings]]
id = "F1"
severity = "major"
status = "resolved"
reason = "it stays with integers"
location = "price.py:7"
issue = "A float decides about cents."
suggestion = ""

[[reply.answer.findings]]
id = "F2"
severity = "blocking"
status = "resolved"
reason = "nothing divides by the number of prices"
location = "price.py:9"
issue = "This divides by zero."
suggestion = ""
"""
_MENDER: Final = """\
import json
import pathlib
import sys

brief = json.loads(pathlib.Path(sys.argv[1]).read_text())
file = pathlib.Path("price.py")  # an author is started in the work tree
answers = []
for finding in brief["payload"]["findings"]:
    if finding["evidence"] == "refuted":
        answer = {"disposition": "rebut", "reasoning": "price.py has no such line."}
    else:
        answer = {"disposition": "fix", "reasoning": "All prices are summed, and cents stay whole."}
    answers.append({"finding": finding["id"], **answer})
text = file.read_text()
text = text.replace("sum(prices[1:])", "sum(prices)")
text = text.replace("int(gross * (1 - discount_percent / 100))", "gross * (100 - discount_percent) // 100")
file.write_text(text)
print(json.dumps({"summary": "Sum all prices, in whole cents", "dispositions": answers, "changed": ["price.py"]}))
"""
_SETTINGS: Final = """\
[agents.critic]
kind = "scripted"
file = "critic.toml"

[agents.mender]
kind = "command"
command = ["PYTHON", "MENDER", "{brief_json}"]
prompt = "file"
destination = "local"

[review]
reviewers = ["checks", "critic"]
base = "main"
"""
TEST_COMMAND: Final = "python -m unittest discover"
"""What `checks` finds in the repository, as the critic names it."""

TAMPERED: Final = (b"exit 1", b"exit 0")
"""What is changed in a copy of the record: the same length, one byte of difference, another truth."""

_IDENTITY: Final[Mapping[str, str]] = {
    "GIT_AUTHOR_NAME": "Demo",
    "GIT_AUTHOR_EMAIL": "demo@example.invalid",
    "GIT_COMMITTER_NAME": "Demo",
    "GIT_COMMITTER_EMAIL": "demo@example.invalid",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def build_repository(folder: Path, environment: Mapping[str, str]) -> None:
    """Make the repository in the new folder `folder`: `main` with its tests, and the branch with the bug.

    Raises:
        SourceError: git is missing or refuses.
    """
    folder.mkdir(parents=True)
    git = _Git(folder, environment)
    git("init", "--quiet", "--initial-branch=main", "--template=")
    (folder / "price.py").write_text(_PRICE, encoding="utf-8")
    (folder / "test_price.py").write_text(_TESTS, encoding="utf-8")
    for key, value in (("user.name", "Demo"), ("user.email", "demo@example.invalid")):
        git("config", key, value)
    git("add", "--all")
    git(
        "commit",
        "--quiet",
        "--no-gpg-sign",
        "--message=Sum prices, with a discount",
        date="2026-01-05T09:00:00+00:00",
    )
    git("checkout", "--quiet", "-b", BRANCH)
    (folder / "price.py").write_text(_BUG, encoding="utf-8")
    git("commit", "--quiet", "--no-gpg-sign", "--all", "--message=Round totals", date="2026-01-05T10:00:00+00:00")


def build_settings(folder: Path) -> None:
    """Write the person's settings, the critic's script and the author into the new folder `folder`."""
    folder.mkdir(parents=True, mode=0o700)
    mender = folder / "mender.py"
    settings = _SETTINGS
    for word, path in (("PYTHON", sys.executable), ("MENDER", str(mender))):
        settings = settings.replace(json.dumps(word), json.dumps(path))
    (folder / "config.toml").write_text(settings, encoding="utf-8")
    mender.write_text(_MENDER, encoding="utf-8")
    (folder / "critic.toml").write_text(_CRITIC.replace("COMMAND", TEST_COMMAND), encoding="utf-8")


class _Git:
    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = {k: v for k, v in environment.items() if not k.startswith("GIT_")}

    def __call__(self, *arguments: str, date: str = "") -> None:
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        try:
            subprocess.run(
                ["git", *arguments],
                cwd=self._folder,
                env={**self._environment, **_IDENTITY, **dates},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=True,
            )
        except FileNotFoundError:
            raise SourceError("git is not installed; the demo needs it", hint="install git") from None
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode("utf-8", "replace").strip()
            raise SourceError(
                f"git {arguments[0]} failed: {said}", hint="run it by hand in the demo's folder"
            ) from None
