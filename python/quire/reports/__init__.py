"""HTML reports: the changes of a page, its records, the templates of a crawl, its fragments.

``redline`` shows a page with its changes marked; ``quire.reports.templates.report`` and
``quire.reports.fragments.report`` show the templates and the fragments of a crawl. All share one
frame and style sheet (``frame``) and one way to escape text (``quire.display.escape``; ``names``
for names of pages). Only this package writes HTML; the packages it uses return data.
"""

from quire.reports.changes.redline import redline

__all__ = ["redline"]
