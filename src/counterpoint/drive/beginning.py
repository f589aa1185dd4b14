"""Beginning a shared channel: its name, the project it serves, the form its entries will have (SPEC C-003, C-040)."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import NamedTuple

from counterpoint.drive.channels import free_name, machine_signer, open_channels
from counterpoint.drive.posting import begin_channel, begin_plain
from counterpoint.errors import ConfigError, CounterpointError
from counterpoint.isolation.git import Git, Place
from counterpoint.protocols.mailbox import BROKERED, MANAGED, make_parties
from counterpoint.record.fs import RealFiles
from counterpoint.record.genesis import party_keys_fault
from counterpoint.record.safe import typed
from counterpoint.record.signing import public_of

__all__ = ["Begun", "Form", "begin", "label_of", "make_folder", "project_of"]

_MAX_KEYS = 64 * 1024
_SLUG = re.compile(r"[a-z0-9][a-z0-9-]*")


class Form(StrEnum):
    """What the entries of a channel will be."""

    SIGNED = "signed"
    """Chained, and signed with this machine's key."""
    UNSIGNED = "unsigned"
    """Chained."""
    PLAIN = "plain"
    """As the public tool writes them."""


class Begun(NamedTuple):
    name: str
    form: Form


def begin(
    root: str,
    environment: Mapping[str, str],
    *,
    parties: tuple[str, str],
    supervisor: str,
    thread_cap: int,
    label: str | None,
    is_brokered: bool,
    form: Form,
    channel_id: str,
    draw: Callable[[int], int],
    stamp: str,
    party_keys: Sequence[str] = (),
) -> Begun:
    """Begin a channel in a folder, which is made where it is missing.

    Args:
        root: of the channel.
        environment: where this machine's key and memory are named.
        parties: the two who take turns.
        supervisor: who may speak at any time.
        thread_cap: how many entries a thread may have.
        label: the first part of its name; `None`: that of the repository around the folder.
        is_brokered: the public tool's controller speaks for the parties; then the form is plain.
        form: of its entries.
        channel_id: 32 random hex digits.
        draw: returns a random number below its argument.
        stamp: of this moment.
        party_keys: `PARTY=FILE` each: who signs for itself, and a file with its public keys.

    Raises:
        ConfigError: a name, the label, a key or the cap cannot be used.
        RecordError: the files cannot be made.
    """
    name = free_name(root, label_of(root, label), draw)
    project, version = project_of(root), BROKERED if is_brokered else MANAGED
    make_parties(parties=parties, supervisor=supervisor, thread_cap=thread_cap, project=project, version=version)
    is_plain = is_brokered or form is Form.PLAIN
    own = _read_party_keys(party_keys, is_plain=is_plain)
    keys = (machine_signer(environment).public,) if form is Form.SIGNED and not is_plain else ()
    _check_party_keys((*parties, supervisor), keys, own)
    store = open_channels(make_folder(root), environment)
    start: Callable[..., None] = partial(begin_channel, channel_id=channel_id, stamp=stamp, keys=keys, party_keys=own)
    if is_plain:
        start = partial(begin_plain, version=version)
    start(store, name, parties=parties, supervisor=supervisor, thread_cap=thread_cap, project=project)
    return Begun(name, Form.PLAIN if is_plain else form)


def _check_party_keys(roster: Sequence[str], keys: Sequence[str], own: Sequence[tuple[str, str]]) -> None:
    if fault := party_keys_fault(roster, keys, own):
        raise ConfigError("party-key", "", sentence=f"refused: {fault}", hint="give each party a key of its own")


def _read_party_keys(given: Sequence[str], *, is_plain: bool) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for text in given:
        party, equals, path = text.partition("=")
        if is_plain or not equals:
            reason = (
                "a plain channel has no signatures" if is_plain else f"--party-key takes PARTY=FILE; got {text!r}"
            )
            hint = "leave --plain and --brokered out" if is_plain else "write --party-key claude=claude.pub"
            raise ConfigError("party-key", "", sentence=f"refused: {reason}", hint=hint)
        found += ((party, key) for key in _public_keys(Path(path).expanduser()))
    return tuple(found)


def _public_keys(path: Path) -> tuple[str, ...]:
    with typed(f"refused: {path} cannot be read"), path.open("rb") as file:
        lines = [line for line in file.read(_MAX_KEYS).splitlines() if line.strip() and not line.startswith(b"#")]
    keys = tuple(key for line in lines if (key := public_of(line)))
    if not lines or len(keys) < len(lines):
        sentence = f"refused: {path} is not a file of ssh-ed25519 public keys"
        raise ConfigError("party-key", "", sentence=sentence, hint="name the .pub file of an Ed25519 key")
    return keys


def label_of(root: str, asked: str | None) -> str:
    """Return the first part of a channel's name.

    Raises:
        ConfigError: the one that is asked for is none, or none can be made from the folder's name.
    """
    if asked is not None:
        if not _SLUG.fullmatch(asked):
            sentence = f"invalid label {asked!r} (lowercase alphanumerics and dashes)"
            raise ConfigError("label", "", sentence=sentence)
        return asked
    top = _repository(root)
    name = top.name if top is not None else Path(root).resolve().parent.name
    label = re.sub(r"-+", "-", re.sub(r"[^a-z0-9]", "-", name.lower())).strip("-")
    if not label:
        sentence = f"refused: cannot derive a channel label from {name!r}; pass --label explicitly"
        raise ConfigError("label", "", sentence=sentence)
    return label


def project_of(root: str) -> str:
    """Return the repository around a folder, or else the folder above it."""
    top = _repository(root)
    return str(Path(root).resolve().parent if top is None else top.resolve())


def _repository(root: str) -> Path | None:
    folder = Path(root)
    if not folder.is_dir():
        return None
    try:
        found = Git.find(checkout=folder).run(
            "rev-parse", "--show-toplevel", place=Place(cwd=folder), accept=(0, 1, 128)
        )
    except CounterpointError:  # no git here, so no repository that it could tell
        return None
    return Path(os.fsdecode(found.removesuffix(b"\n"))) if found else None


def make_folder(root: str) -> str:
    """Make a folder, and those above it, where they are missing, and return it; their names are on disk then.

    Raises:
        RecordError: one cannot be made.
    """
    fs = RealFiles()
    with typed(f"refused: {root} cannot be made"):
        missing = [path for path in (Path(root), *Path(root).parents) if not path.is_dir()]
        for path in reversed(missing):
            path.mkdir(exist_ok=True)
            above = fs.folder(str(path.parent))
            fs.sync(above)
            fs.close(above)
    return root
