"""The package that the wheel installs; it contains all top-level packages of the repository.

They import each other under their names in the repository, which works because this package makes
them importable. Without it, packages with names as general as `schemas` would land in
site-packages.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).parent
# In a checkout the other packages are next to this one, not in it.
_ROOMS = _HERE if (_HERE / "harness").is_dir() else _HERE.parent

if str(_ROOMS) not in sys.path:
    sys.path.insert(0, str(_ROOMS))
