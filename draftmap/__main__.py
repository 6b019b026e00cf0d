"""Run the harness's command line as `draftmap` or `python -m draftmap`."""

from harness.__main__ import main

if __name__ == "__main__":
    main()
