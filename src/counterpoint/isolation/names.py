r"""File names out of a repository: untrusted bytes.

- `visible_path`: the one text form of a path in briefs, reports and the record. A plain UTF-8 path is itself; in
  any other, a backslash is doubled and every other odd byte or character is written out (`\xff`, `\u{a}`), so that
  two paths never share a form.
- `unsafe`: why a name is not written to disk.
- `folded`: what a file system that ignores case and composition takes a name for.

Sources: SECURITY B.5, R19.
"""

import unicodedata
from typing import Final

from counterpoint.core.canonical import visible

__all__ = ["MAX_NAME", "folded", "is_git_folder", "unsafe", "visible_path"]

MAX_NAME: Final = 255
_HIDDEN: Final = frozenset({"Cc", "Cf", "Zl", "Zp"})
# Two names that NTFS takes for `.git`; a colon begins the name of a stream of the same file.
_GIT: Final = (".git", "git~1")


def visible_path(raw: bytes) -> str:
    """Return the text form of a path, one to one."""
    text = raw.decode("utf-8", "surrogateescape")
    if text.isprintable() and "\\" not in text and visible(text) == text:
        return text
    return "".join(_write_out(char) for char in text)


def _write_out(char: str) -> str:
    if "\udc80" <= char <= "\udcff":
        return f"\\x{ord(char) - 0xDC00:02x}"
    if char == "\\":
        return "\\\\"
    if char.isprintable() and visible(char) == char:
        return char
    return f"\\u{{{ord(char):x}}}"


def unsafe(name: bytes) -> str:
    """Return why a name of a tree entry is not written to disk, or an empty string."""
    text = name.decode("utf-8", "surrogateescape")
    if text in {"", ".", ".."}:
        return f"the name {text!r} is a place, not a file"
    if "/" in text:
        return "a separator is in the name"
    if "\\" in text:
        return "a separator of another system is in the name"
    if len(name) > MAX_NAME:
        return f"the name has {len(name)} bytes; at most {MAX_NAME} are written"
    if any(unicodedata.category(char) in _HIDDEN for char in text):
        return "a control or format character is in the name"
    if is_git_folder(name):
        return "some systems take the name for .git"
    return ""


def is_git_folder(name: bytes) -> bool:
    """Say whether some system takes the name for `.git`."""
    return folded(name).rstrip(" .").split(":")[0].rstrip(" .") in _GIT


def folded(name: bytes) -> str:
    """Return the form in which a case-insensitive, composing file system compares names."""
    return unicodedata.normalize("NFKC", name.decode("utf-8", "surrogateescape")).casefold()
