"""The package that the wheel installs; it contains all top-level packages of the repository.

They import each other by their names in the repository and are found through this package, so that
no name as general as `schemas` lands in site-packages.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).parent
# In a checkout the other packages are next to this one, not in it.
_ROOMS = _HERE if (_HERE / "harness").is_dir() else _HERE.parent

if str(_ROOMS) not in sys.path:
    sys.path.insert(0, str(_ROOMS))
