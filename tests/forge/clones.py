"""A clone as a reviewer has it: a remote with a main branch and a pull request that has not been fetched."""

from pathlib import Path

from tests.repositories import Scratch

__all__ = ["clone_shop"]


def clone_shop(folder: Path, *, number: int = 12) -> Scratch:
    """Make a clone in `folder`; its remote `origin` holds pull request `number`, with a hook of its own."""
    upstream = Scratch(folder / "upstream")
    upstream.commit({"till.py": "1\n"})
    upstream.git("switch", "-q", "-c", "feature")
    upstream.write("hooks/post-checkout", "#!/bin/sh\necho ran > ran\n").chmod(0o755)
    upstream.commit({"till.py": "2\n"})
    upstream.git("update-ref", f"refs/pull/{number}/head", "HEAD")
    upstream.git("switch", "-q", "main")
    upstream.git("branch", "-q", "-D", "feature")
    clone = Scratch(folder / "shop")
    clone.git("remote", "add", "origin", upstream.top)
    clone.git("fetch", "-q", "origin")
    clone.git("reset", "-q", "--hard", "origin/main")
    return clone
