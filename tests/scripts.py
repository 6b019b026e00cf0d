"""Run the site's page scripts outside a browser, in the Node that Playwright brings."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import playwright

SCRIPTS = Path(__file__).parents[1] / "site_src" / "assets" / "javascripts"
(NODE,) = (Path(playwright.__file__).parent / "driver").glob("node*")


def run(folder: Path, program: str, given: object) -> Any:  # noqa: ANN401 - JSON of any shape
    """Run a program next to the page scripts; return the value of its `answer(given)`."""
    for script in SCRIPTS.glob("*.js"):
        shutil.copy(script, folder / script.name)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "asked.js").write_text(
        'import { readFileSync } from "node:fs";\n'
        f"{program}\n"
        'const found = answer(JSON.parse(readFileSync(0, "utf8")));\n'
        "process.stdout.write(JSON.stringify(found));\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [NODE, folder / "asked.js"],
        input=json.dumps(given).encode(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)
