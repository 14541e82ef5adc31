"""Sites to look for shared fragments in: they stand in the place of the paper's BBC, Internet News and IBM."""

from benchmarks.corpora import Page, html_pages

#: A question site, a municipality (six sites of one family), documentation (five). No corpus has many pages of one newspaper.
CORPORA = ("templates-types", "templates-helsingborg", "templates-docs")
#: As many as the paper has of the BBC.
SAMPLE = 75


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
