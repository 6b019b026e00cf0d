"""`draftmap` and `python -m draftmap` are the command line of the harness."""

from harness.__main__ import main

if __name__ == "__main__":
    main()
