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
from typing import Final, NamedTuple

from counterpoint.drive.channels import KEY_VARIABLE, FileStore, open_channels
from counterpoint.errors import NoKey, Refused
from counterpoint.record.safe import typed
from counterpoint.record.signing import Signer, fingerprint, is_locked, load_key, public_of
from counterpoint.record.store import Genesis

__all__ = ["AGENT", "Wanted", "signing_store"]

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
        return _agents(keys, environment)
    path = wanted.file
    if path.startswith("~/"):
        path = environment.get("HOME", "~") + path[1:]
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
        return _agents((public,), environment)
    if mode & _OTHERS:
        raise NoKey(
            f"refused: {path} is open to others (mode {mode:04o}); a private key has mode 0600",
            hint=f"run `chmod 600 {path}`",
        )
    if not is_locked(content):
        return load_key(content, source=path, hint=_HINT)
    # Cold start: only a locked key needs another program.
    from counterpoint.drive.locked_keys import locked_signer  # noqa: PLC0415

    return locked_signer(path, public, passphrase=ask(path), environment=environment)


def _agents(keys: tuple[str, ...], environment: Mapping[str, str]) -> Signer:
    path = environment.get("SSH_AUTH_SOCK", "")
    if not path:
        raise NoKey(
            "refused: no SSH agent is running here: SSH_AUTH_SOCK is not set",
            hint="start one (`eval $(ssh-agent)`) and `ssh-add` the key, or use `--sign-key FILE`",
        )
    # Cold start: only an agent needs sockets.
    from counterpoint.record.ssh_agent import agent_signer  # noqa: PLC0415

    return agent_signer(path, keys)


def _read(path: str) -> tuple[bytes, int]:
    with typed(f"refused: the key {path} cannot be read"):
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            mode = os.fstat(fd).st_mode
            if not stat.S_ISREG(mode):
                raise NoKey(f"refused: the key {path} is no plain file", hint=_HINT)
            return os.read(fd, _MAX_KEY), stat.S_IMODE(mode)
        finally:
            os.close(fd)
