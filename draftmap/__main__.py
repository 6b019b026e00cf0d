"""`draftmap` and `python -m draftmap` are the command line of the harness."""

try:
    from harness.cli import main
except KeyboardInterrupt:  # while libraries load, before anybody could catch it
    raise SystemExit(130) from None

if __name__ == "__main__":
    main()
