"""The comment that a review leaves on its pull request: a file always, and posted where the case says so.

Posting is done here, by code, through `gh`; no agent posts. It is one comment a pull request, updated in place. Where
it cannot be posted, the outcome stands all the same: the file and the command are named.

Source: SPEC D-19; FIELD-FAULTS F39.
"""

from typing import Final

from counterpoint.cli.output import say, tell
from counterpoint.core.canonical import visible
from counterpoint.core.values import StopReason
from counterpoint.drive.answers import login_name
from counterpoint.drive.cases import LoadedCase
from counterpoint.drive.forge import Forge
from counterpoint.drive.paths import path_text
from counterpoint.drive.pull_request import Address, marked, words_to_post
from counterpoint.drive.running import Session
from counterpoint.errors import SourceError
from counterpoint.views.comment import render_comment
from counterpoint.views.writing import put_whole

__all__ = ["leave_comment"]

FILE: Final = "comment.md"
_NOT_POSTED: Final = frozenset({StopReason.FAILED, StopReason.WITHDRAWN})
"""How a case ends that came to nothing: nobody but its user needs to hear of it."""


def leave_comment(session: Session, case: LoadedCase, *, as_json: bool) -> None:
    """Write the comment of a case about a pull request, or with an author, and post it where the case says so."""
    opened = case.state.case
    has_author = opened.author is not None
    if not opened.docket.is_about_change or not (has_author or opened.docket.pull_request):
        return
    body = marked(render_comment(case, by=login_name()))
    file = case.folder / FILE
    put_whole(file, body.encode())
    if not as_json:
        say(f"comment:  {visible(path_text(file))}")
    if not opened.terms.comments or case.outcome.stop_reason in _NOT_POSTED:
        return
    address = Address.read(opened.docket.pull_request)
    try:
        url = _post(session, address, body)
    except SourceError as error:
        by_hand = words_to_post(address.number, file, repository=address.repository, host=address.host)
        tell(f"note: the comment was not posted: {error}", colour="yellow")
        tell(f"hint: {error.hint}" if error.hint else f"hint: run {by_hand}")
        return
    if not as_json:
        say(f"posted:   {visible(url)}")


def _post(session: Session, address: Address, body: str) -> str:
    forge = Forge.find(session.repo, session.environment)
    if forge is None:
        raise SourceError("there is no gh on PATH")
    pull = forge.view(address.number)
    if pull.url != address.url:
        raise SourceError(f"number {address.number} is {pull.url} here; the case is about {address.url}")
    return forge.comment(pull, body)
