"""Import the package before pytest imports its files one by one.

``quire.archive.export`` is both a function and a module. Importing the package gives the function;
if pytest imported that file first, the module would take its place.
"""

import quire
import quire.archive  # noqa: F401
