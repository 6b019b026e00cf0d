"""Run the command line with `python -m harness`, which is the same as `draftmap`."""

import sys

_OURS = ("planner", "estimates", "harness", "pipeline", "schemas")


def main() -> None:
    """Run the command line, or say how to install what it needs."""
    try:
        from harness.cli import main as run  # noqa: PLC0415 - it may not be installed
    except KeyboardInterrupt:  # Ctrl-C while libraries load, before a handler is set up
        raise SystemExit(130) from None
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in _OURS:
            raise
        python = r".venv\Scripts\python" if sys.platform == "win32" else ".venv/bin/python"
        print(  # noqa: T201 - what prints otherwise is not installed
            f"Error: {error.name} is not installed for {sys.executable}; "
            f"run `make setup`, then `{python} -m harness`",
            file=sys.stderr,
        )
        raise SystemExit(3) from None
    run()


if __name__ == "__main__":
    main()
