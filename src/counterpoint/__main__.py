"""`python -m counterpoint`, and the two console scripts."""

import os
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    _open_standard_streams()
    words = sys.argv[1:]
    if words[:1] == ["channel"]:
        # The mailbox does without what the other commands need.
        from counterpoint.cli.channel import run as run_channel  # noqa: PLC0415

        sys.exit(run_channel(words[1:]))
    from counterpoint.cli.main import run  # noqa: PLC0415 - importing the package must cost nothing

    sys.exit(run(words))


def _open_standard_streams() -> None:
    """Open what the caller has closed of them; a record would else become the standard output of a program."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free, which is this one
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


if __name__ == "__main__":
    main()
