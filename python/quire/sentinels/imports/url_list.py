"""A list of addresses: one in each line, perhaps with tags behind it."""

from __future__ import annotations

from quire.display import is_web_address
from quire.sentinels.form.plain_data import as_text
from quire.sentinels.imports.imported import MAX_WATCHES, Draft, Imported, Note, finish


def import_url_list(data: str | bytes, file: str = "") -> Imported:
    r"""Import a list of addresses.

    Empty lines and lines that start with ``#`` are skipped. Tags are separated by commas.

    >>> import_url_list("https://a.example/ news, daily\n").watches[0].tags
    ('news', 'daily')

    Raises:
        WatchError: the text is too long, or not UTF-8.
    """
    drafts: list[Draft] = []
    notes: list[Note] = []
    seen: set[tuple[str, ...]] = set()
    for number, line in enumerate(as_text(data, file).splitlines(), 1):
        address, _, rest = line.strip().partition(" ")
        if not address or address.startswith("#"):
            continue
        tags = [tag.strip() for tag in rest.split(",") if tag.strip()]
        place = f"line {number}"
        if not is_web_address(address):
            notes.append(Note("", place, "not imported: not an address"))
        elif (address, *tags) in seen:
            notes.append(Note("", place, "not imported: it is in the list twice"))
        elif len(drafts) == MAX_WATCHES:
            notes.append(Note("", place, f"not imported: more than {MAX_WATCHES:,} addresses"))
            break
        else:
            seen.add((address, *tags))
            draft = Draft("")
            draft.address("url", address)
            if tags:
                draft.form["tags"] = tags
            drafts.append(draft)
    return finish(drafts, notes)
