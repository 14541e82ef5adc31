"""Import the package before pytest imports its files one by one.

``quire.similarity`` is a function, and the folder it comes from. Whoever imports ``quire`` gets the function;
pytest, when it is asked for files of that folder alone, would put the folder in its place.
"""

import quire  # noqa: F401
