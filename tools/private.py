"""Look for private data in a built site: `python -m tools.private build/site`.

The gate refuses secrets and flags personal data; this program checks the pages that visitors get. A
secret is an error. Personal data are only listed, and so is text that looks secret only because of
the words before it: contributors wrote these texts, and only they can change them.
"""

import re
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from schemas.private import BY_CONTEXT, personal, secret

# Files that show contributors' texts; data files repeat the same texts.
TEXTS = {".html", ".txt", ".xml"}
NAMES = {"submissions.json"}
MARKUP = {".html", ".xml"}
# The format of feeds requires UUIDs as ids of entries.
FEEDS = {"feed.xml", "builds.xml", "acceptance.xml"}
TAG = re.compile(
    r"<(?:script|style)\b.*?</(?:script|style)\s*>|<[^<>]*>", re.DOTALL | re.IGNORECASE
)
INLINE = re.compile(r"</?(?:a|b|code|em|i|span|strong|wbr)\b[^>]*>", re.IGNORECASE)


def main(site: Path) -> int:
    """Print the findings; return 1 if a secret is among them."""
    secrets = 0
    for path in sorted(p for p in site.rglob("*") if p.suffix in TEXTS or p.name in NAMES):
        place = path.relative_to(site).as_posix()
        for kind, is_secret in found(path.read_text("utf-8"), is_markup=path.suffix in MARKUP):
            if kind == "a UUID" and place in FEEDS:
                continue
            secrets += is_secret and kind not in BY_CONTEXT
            sys.stdout.write(f"{place}: {kind}{'' if is_secret else ' (perhaps)'}\n")
    return 1 if secrets else 0


def found(text: str, *, is_markup: bool) -> Iterator[tuple[str, bool]]:
    """Yield each kind of private data in the text of a file, and whether it is a secret."""
    plain = unescape(TAG.sub("\n", INLINE.sub("", text))) if is_markup else text
    if kind := secret(plain):
        yield kind, True
    lines = {line for line in re.split(r'[\n"]', plain) if set(line) & set("@:/\\.-")}
    kinds = {kind for line in lines if (kind := personal(line))}
    for kind in sorted(kinds):
        yield kind, False


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
