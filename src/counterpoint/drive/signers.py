"""Which key signs what a party posts: a file, a key that an SSH agent holds, or this machine's.

    store = signing_store(root, channel, os.environ, sender="claude", wanted=Wanted(agent=True), ask=ask)

- A private key file, or a public one whose private half an agent holds, as git and `ssh-keygen` understand it.
- An agent alone: the genesis says which key is the sender's, so nothing more has to be named.
- `COUNTERPOINT_CHANNEL_SIGN_KEY`, a path or `agent`, is the default where the genesis names a key of the sender's. It
  is an environment variable alone: whose commands a party runs sets it for that party, and a post reads no settings.

All of it is looked up before the channel is held, so that a person is asked for a passphrase under no lock.
"""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from counterpoint.drive.channels import KEY_VARIABLE, FileStore, open_channels
from counterpoint.errors import NoKey, RecordError, Refused
from counterpoint.protocols.mailbox import Parties
from counterpoint.record.allowed import MAX_ALLOWED, read_allowed
from counterpoint.record.safe import typed
from counterpoint.record.signing import Signer, fingerprint, is_locked, load_key, public_of
from counterpoint.record.speakers import Vouch
from counterpoint.record.ssh_agent import agent_signer
from counterpoint.record.store import Genesis

__all__ = ["AGENT", "Wanted", "read_signers", "signing_store"]

AGENT: Final = "agent"
_MAX_KEY: Final = 64 * 1024
_HINT: Final = "name an Ed25519 key in OpenSSH's form, as `ssh-keygen -t ed25519` makes it"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


class Wanted(NamedTuple):
    """What was asked for."""

    file: str = ""
    """The path of a key; empty: none was named."""
    agent: bool = False


def signing_store(
    root: str,
    channel: str,
    environment: Mapping[str, str],
    *,
    sender: str,
    wanted: Wanted,
    ask: Callable[[str], str],
) -> FileStore:
    """Return the store of the channels in a folder that signs what `sender` says with the key that is wanted.

    Args:
        root: the folder.
        channel: the channel that is posted to.
        environment: names the default key, the agent's socket and this machine's folders.
        sender: who speaks.
        wanted: what was asked for; nothing: the default, and only where the sender has a key in the channel.
        ask: asks a person for the passphrase of the key file with the given path.

    Raises:
        Refused: SIGN-1: the key is not one that signs for the sender here.
        NoKey: the key cannot be had.
    """
    store = open_channels(root, environment)
    genesis = store.look(channel, lambda view: view.genesis)
    if wanted == Wanted():
        default = environment.get(KEY_VARIABLE, "")
        if genesis is None or not default or genesis.keys_of(sender) == genesis.keys:
            return store
        wanted = Wanted(agent=True) if default == AGENT else Wanted(file=default)
    signer = _signer(_keys_of(genesis, sender), sender, wanted, environment, ask)
    return open_channels(root, environment, signer=lambda: signer)


def _keys_of(genesis: Genesis | None, sender: str) -> tuple[str, ...]:
    keys = genesis.keys_of(sender) if genesis else ()
    if keys:
        return keys
    form = "its entries are not signed" if genesis else "it is in the public tool's form, which has no signatures"
    raise Refused(
        "SIGN-1",
        f"the channel names no key that signs for {sender}: {form}",
        seat=sender,
        hint=f"leave the key out, or begin a channel with `counterpoint channel init --party-key {sender}=FILE.pub`",
    )


def _signer(
    keys: tuple[str, ...], sender: str, wanted: Wanted, environment: Mapping[str, str], ask: Callable[[str], str]
) -> Signer:
    if not wanted.file:
        return agent_signer(_socket(environment), keys)
    path = str(Path(wanted.file).expanduser())
    content, mode = _read(path)
    public = public_of(content)
    if public is None:
        raise NoKey(f"refused: {path} holds no Ed25519 key in OpenSSH's form", hint=_HINT)
    if public not in keys:
        known = " or ".join(map(fingerprint, keys))
        raise Refused(
            "SIGN-1",
            f"what {sender} says in this channel is signed with the key {known}; {path} is {fingerprint(public)}",
            seat=sender,
            hint="name the file of that key, or `--sign-agent` where an SSH agent holds it",
        )
    if not content.lstrip().startswith(b"-----BEGIN"):
        return agent_signer(_socket(environment), (public,))
    if mode & _OTHERS:
        raise NoKey(
            f"refused: {path} is open to others (mode {mode:04o}); a private key has mode 0600",
            hint=f"run `chmod 600 {path}`",
        )
    if not is_locked(content):
        return load_key(content, source=path, hint=_HINT)
    # Only a locked key needs another program.
    from counterpoint.drive.locked_keys import locked_signer  # noqa: PLC0415

    return locked_signer(path, public, passphrase=ask(path), environment=environment)


def _socket(environment: Mapping[str, str]) -> str:
    path = environment.get("SSH_AUTH_SOCK", "")
    if not path:
        raise NoKey(
            "refused: no SSH agent is running here: SSH_AUTH_SOCK is not set",
            hint="start one (`eval $(ssh-agent)`) and `ssh-add` the key, or use `--sign-key FILE`",
        )
    return path


def _read(path: str) -> tuple[bytes, int]:
    with typed(f"refused: the key {path} cannot be read"), Path(path).open("rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise NoKey(f"refused: the key {path} is no plain file", hint=_HINT)
        return file.read(_MAX_KEY), stat.S_IMODE(mode)


def read_signers(file: str, parties: Parties) -> Vouch:
    """Return what an OpenSSH allowed_signers file says of the parties of a channel.

    Raises:
        RecordError: it cannot be read, or names none of them.
    """
    with typed(f"refused: {file} cannot be read"), Path(file).open("rb") as opened:
        allowed = read_allowed(opened.read(MAX_ALLOWED), source=file)
    roster = (*parties.parties, parties.supervisor)
    if allowed.parties.isdisjoint(roster):
        reason = f"refused: {file} names none of {', '.join(roster)}"
        raise RecordError(reason, hint="name the parties as the channel does")
    return allowed.fault
