"""Give every page a Content-Security-Policy, and prevent line breaks before percent signs.

The theme has a few inline scripts. The policy allows them by their digests, which are taken from
pages without contributors' text; any other inline script stops the build.
"""

import base64
import hashlib
import re
from collections.abc import Collection, Iterable
from pathlib import Path

from pipeline.errors import PipelineError

TRUSTED = ("404.html", "how-it-works/index.html")
# The theme writes the path to the root into a script. Trusted are the scripts of the home page, and
# of pages two folders down.
ROOTS = ('new URL(".",', 'new URL("../..",')
CHARSET = '<meta charset="utf-8">'
META = '<meta http-equiv="Content-Security-Policy"'
SCRIPT = re.compile(r"<script\b([^<>]*)>(.*?)</script\s*>", re.DOTALL | re.IGNORECASE)
PERCENT = re.compile(r" %(?<=\d %)")  # a pattern that begins with a letter is found faster
DATA = 'type="application/json"'


class UnexpectedScriptError(PipelineError):
    """A page has an inline script that no trusted page has: text has become code."""

    exit_code = 3

    def __init__(self, page: str, script: str) -> None:
        super().__init__(
            f"{page} holds an inline script that the theme did not put there: {script[:120]!r}. "
            "Look for text that a template printed without escaping."
        )


def write_policy(site: Path) -> None:
    """Add the policy to every page below `site`. Raises `UnexpectedScriptError`."""
    trusted = [(site / name).read_text("utf-8") for name in TRUSTED]
    scripts = {script for page in trusted for script in inline_scripts(page)}
    scripts |= {script.replace('new URL("..",', root) for script in scripts for root in ROOTS}
    allowed = set(map(digest, scripts))
    for path in sorted(site.rglob("*.html")):
        text = path.read_text("utf-8")
        if CHARSET in text and META not in text:  # else a fragment, or a page that has its policy
            name = path.relative_to(site).as_posix()
            path.write_text(with_policy(text, name, allowed), "utf-8")


def with_policy(page: str, name: str, allowed: Collection[str] = ()) -> str:
    """A page with the policy for these digests. Raises `UnexpectedScriptError`."""
    for script in inline_scripts(page):
        if digest(script) not in allowed:
            raise UnexpectedScriptError(name, script)
    meta = f'{CHARSET}{META} content="{policy(allowed)}">'
    return PERCENT.sub("\N{NO-BREAK SPACE}%", page.replace(CHARSET, meta, 1))


def policy(digests: Iterable[str]) -> str:
    """The policy: nothing from other hosts, no `eval`, and only the listed inline scripts."""
    scripts = "".join(f" '{each}'" for each in sorted(digests))
    return (
        f"default-src 'self'; script-src 'self'{scripts}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'"
    )


def inline_scripts(page: str) -> tuple[str, ...]:
    """The text of every inline script that a browser would run."""
    return tuple(
        text
        for attributes, text in SCRIPT.findall(page)
        if " src=" not in attributes and DATA not in attributes
    )


def digest(script: str) -> str:
    """A script's digest in the form that a policy needs."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
