"""`python -m harness` is the command line, and so is `draftmap`."""

import sys

from harness.stored_help import is_printed


def main() -> None:
    """Run the command line. Its help needs none of the libraries that are imported here."""
    if is_printed(sys.argv[1:]):
        return
    try:
        from harness.cli import main as run  # noqa: PLC0415 - see above
    except KeyboardInterrupt:  # while libraries load, before anybody could catch it
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
