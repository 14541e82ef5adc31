"""Reports: everything that quire draws as HTML, with one frame, one style sheet and one escaping path.

``redline`` marks the changes of a page on the page itself; ``quire.reports.templates.report`` and
``quire.reports.fragments.report`` draw the templates and the fragments of a crawl. The rooms below
return data; nothing below this room writes HTML.
"""

from quire.reports.changes.redline import redline

__all__ = ["redline"]
