"""What an installed wheel puts into site-packages: this package, with the rooms inside it.

The rooms import each other by the names that they have in the repository; they are found from
here, so that no name as general as `schemas` lands in site-packages.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).parent
# In a checkout the rooms are next to this package, not in it.
_ROOMS = _HERE if (_HERE / "harness").is_dir() else _HERE.parent

if str(_ROOMS) not in sys.path:
    sys.path.insert(0, str(_ROOMS))
