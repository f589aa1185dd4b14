"""From the names that people write to full commit ids.

A name is looked up in the repository as a plain name; everything after it (`~2`, `^{commit}`) is walked in the
quarantine. Only full ids leave this module.

Sources: SPEC D-03 to D-05, SECURITY G9, G11.
"""

import re
from typing import Final

from counterpoint.errors import SourceError
from counterpoint.isolation.git import Place
from counterpoint.isolation.repository import Quarantine

__all__ = ["default_base", "head", "head_or_none", "is_on_default", "merge_base", "resolve"]

_NAME: Final = re.compile(r"(?P<name>[^\x00-\x20\x7f~^:?*\[\\]+)(?P<walk>(?:[~^][0-9]{0,6})*)")
_ODD: Final = re.compile(r"^[-/.]|\.\.|//|@\{|/\.|[/.]$|\.lock$")
_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_DEFAULTS: Final = ("refs/remotes/origin/HEAD", "refs/remotes/origin/master", "refs/remotes/origin/main")
_LOCAL: Final = ("refs/heads/main", "refs/heads/master")


def resolve(quarantine: Quarantine, name: str) -> str:
    """Return the full id of the commit that `name` means: a branch, a tag or an id, `~n` and `^n` after it.

    Raises:
        SourceError: it is not such a name, or names no commit.
    """
    parts = _NAME.fullmatch(name)
    if not parts or _ODD.search(parts["name"]):
        raise SourceError(
            f"{name!r} is not the name of a branch, a tag or a commit",
            hint="name one, such as `main`, `origin/main`, `v1.2`, `HEAD~3` or a commit id",
        )
    object_id = _look_up(quarantine, parts["name"])
    commit = _peel(quarantine, f"{object_id}{parts['walk']}") if object_id else ""
    if not commit:
        raise SourceError(
            f"{name!r} names no commit in {str(quarantine.repository.top)!r}",
            hint="`git branch --all` and `git tag` list the names; `git fetch` brings new ones",
        )
    return commit


def head(quarantine: Quarantine) -> str:
    """Return the id of the commit that is checked out, on a branch or detached.

    Raises:
        SourceError: there is no commit yet.
    """
    commit = head_or_none(quarantine)
    if commit is None:
        raise SourceError(
            f"{str(quarantine.repository.top)!r} has no commit yet",
            hint="commit something before asking for a review",
        )
    return commit


def head_or_none(quarantine: Quarantine) -> str | None:
    """As `head`, but `None` where there is no commit yet."""
    object_id = _look_up(quarantine, "HEAD")
    return (_peel(quarantine, object_id) or None) if object_id else None


def default_base(quarantine: Quarantine) -> str:
    """Return the name of the ref to compare with when nobody named one.

    That is `origin/HEAD`, `origin/master` or `origin/main`; in a repository that has no remote branch at all, the
    local `main` or `master`, if it is not the branch that is checked out.

    Raises:
        SourceError: none of them is there.
    """
    for ref in _DEFAULTS:
        if _look_up(quarantine, ref):
            return ref
    tried = [ref.removeprefix("refs/remotes/") for ref in _DEFAULTS]
    if not _has_remote(quarantine):
        current = _checked_out(quarantine)
        for ref in _LOCAL:
            short = ref.removeprefix("refs/heads/")
            if ref == current:
                tried.append(f"{short} (it is checked out)")
                continue
            if _look_up(quarantine, ref):
                return ref
            tried.append(short)
    raise SourceError(
        f"no branch to compare with; tried {', '.join(tried)}",
        hint="name one with --base, such as `--base main` or `--base HEAD~1`",
    )


def is_on_default(quarantine: Quarantine) -> bool:
    """Return whether `main` or `master` is checked out in a repository that has no remote branch at all."""
    return not _has_remote(quarantine) and _checked_out(quarantine) in _LOCAL


def _has_remote(quarantine: Quarantine) -> bool:
    git, place = quarantine.git, quarantine.repository.place
    return bool(git.run("for-each-ref", "--count=1", "--format=%(refname)", "refs/remotes/", place=place))


def _checked_out(quarantine: Quarantine) -> str:
    git, place = quarantine.git, quarantine.repository.place
    return git.run("symbolic-ref", "--quiet", "HEAD", place=place, accept=(0, 1)).decode("utf-8", "replace").strip()


def merge_base(quarantine: Quarantine, base: str, candidate: str) -> str:
    """Return the commit where `candidate` left `base`; both are full ids.

    Raises:
        SourceError: they have no common commit, as far as this clone goes.
    """
    try:
        found = quarantine.git.run("merge-base", base, candidate, place=quarantine.place, accept=(0, 1))
        why = "have no common commit in this clone"
    except SourceError as error:
        found, why = b"", f"cannot be compared: {error}"
    if not found:
        hint = "name a base that shares its history, with --base"
        if quarantine.repository.is_shallow:
            hint = "this clone is shallow: run `git fetch --unshallow`, or fetch deeper with `git fetch --deepen=100`"
        raise SourceError(f"commits {base} and {candidate} {why}", hint=hint)
    return found.decode("ascii").strip()


def _look_up(quarantine: Quarantine, name: str) -> str:
    return _rev_parse(quarantine, name, place=quarantine.repository.place)


def _peel(quarantine: Quarantine, revision: str) -> str:
    return _rev_parse(quarantine, f"{revision}^{{commit}}", place=quarantine.place)


def _rev_parse(quarantine: Quarantine, revision: str, *, place: Place) -> str:
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", revision)
    # 128: an ambiguous short id, or a walk past the beginning.
    found = quarantine.git.run(*arguments, place=place, accept=(0, 1, 128)).decode("ascii").strip()
    return found if _ID.fullmatch(found) else ""
