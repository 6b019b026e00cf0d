"""`python -m harness` is the command line."""

try:
    from harness.cli import main
except KeyboardInterrupt:  # while libraries load, before anybody could catch it
    raise SystemExit(130) from None

main()
