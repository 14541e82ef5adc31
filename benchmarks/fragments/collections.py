"""Collections of pages to look for shared fragments in: what stands in the place of the paper's BBC, Internet News and IBM.

No corpus has many pages of one newspaper. ``versions-news`` has captures of six front pages; as the paper's collections do, ours
hold "different versions of each page" then. One capture of each is a collection too, of six sites.
"""

from benchmarks.corpora import Page, html_pages
from benchmarks.fragments.histories import histories

#: A municipality (six sites of one family), documentation (five), front pages of newspapers (six, in many versions).
CORPORA = ("templates-helsingborg", "templates-docs", "versions-news")
#: As many as the paper has of the BBC.
SAMPLE = 75


def latest_news() -> list[Page]:
    """The last capture of every front page."""
    return [captures[-1][1] for captures in histories("versions-news").values()]


def by_site(corpus: str) -> dict[str, list[Page]]:
    """The pages of a corpus by the site they are of, which is the first part of their names."""
    sites: dict[str, list[Page]] = {}
    for page in html_pages((corpus,)):
        sites.setdefault(page.name.split("/")[0], []).append(page)
    return sites


def spaced(pages: list[Page], most: int = SAMPLE) -> list[Page]:
    """All, or so many of them, evenly spaced."""
    if len(pages) <= most:
        return pages
    return [pages[at * len(pages) // most] for at in range(most)]
