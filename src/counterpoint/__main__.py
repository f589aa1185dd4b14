"""`python -m counterpoint`, and the two console scripts."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    from counterpoint.cli.main import run  # noqa: PLC0415 - importing the package must cost nothing

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
