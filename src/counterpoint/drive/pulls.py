"""The pull request that a review is of: brought here by its number, or found by the branch that is checked out.

By number, its head becomes the candidate and its base what is compared with. Nothing else of it is believed: `gh`
says which commit it checks out, and HEAD is looked at afterwards.

Source: SPEC D-04, D-06, D-07.
"""

from collections.abc import Mapping
from pathlib import Path

from counterpoint.drive.forge import Forge
from counterpoint.drive.planning import refuse_dirty
from counterpoint.drive.pull_request import PullRequest, PullState, remote_branch, words_to_check_out
from counterpoint.errors import SourceError
from counterpoint.isolation.gitstate import look_at_git
from counterpoint.isolation.repository import Repository

__all__ = ["bring_pull", "find_pull"]


def bring_pull(repo: Path, number: int, environment: Mapping[str, str]) -> tuple[PullRequest, str]:
    """Check out a pull request, and return it with the remote-tracking ref of its base.

    Raises:
        SourceError: there is no `gh`, the work tree holds what no commit does, the pull request is not open, or what
            was checked out is not its head.
    """
    repository = Repository.find(repo)
    forge = Forge.find(repository.top, environment)
    if forge is None:
        raise SourceError(
            f"there is no gh on PATH to bring pull request {number} here",
            hint=words_to_check_out(number),
        )
    refuse_dirty(repository)
    pull = forge.view(number)
    if pull.state is not PullState.OPEN:
        raise SourceError(f"{pull} is {pull.state.lower()}; only an open one is reviewed", hint="name another one")
    base = remote_branch(repository, pull)
    if look_at_git(repository).head != pull.commit:
        forge.checkout(number)
    head = look_at_git(repository).head
    if head != pull.commit:
        raise SourceError(
            f"HEAD is at {head[:12]} after the checkout; the head of {pull} is {pull.commit[:12]}",
            hint="push or set aside the commits that only this branch has, then review again",
        )
    return pull, base


def find_pull(repo: Path, environment: Mapping[str, str]) -> PullRequest | None:
    """Return the open pull request of the branch that is checked out, or None; never a guess about an error.

    Raises:
        SourceError: `gh` cannot say.
    """
    repository = Repository.find(repo)
    forge = Forge.find(repository.top, environment)
    if forge is None or not _has_remote(repository):
        return None
    try:
        pull = forge.discover()
    except SourceError as error:
        hint = f"{error.hint}, or review with --no-comment" if error.hint else "review with --no-comment"
        raise SourceError(f"whether this branch has a pull request cannot be told: {error}", hint=hint) from None
    return pull if pull is not None and pull.state is PullState.OPEN else None


def _has_remote(repository: Repository) -> bool:
    return bool(
        repository.git.run("config", "--get-regexp", r"^remote\..*\.url$", place=repository.place, accept=(0, 1))
    )
