"""Import the package before pytest imports its files one by one.

``quire.similarity`` is a function, and the folder it comes from; ``quire.archive.export`` is one, and its file. Whoever imports
the package gets the function; pytest, when it is asked for these files alone, would put them in its place.
"""

import quire
import quire.archive  # noqa: F401
