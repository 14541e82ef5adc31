"""Import from urlwatch and webchanges: the YAML file of their jobs.

Jobs that run commands are never imported.
"""

from __future__ import annotations

from collections.abc import Iterator

from quire.sentinels.form.plain_data import as_text, error_at, read_yaml
from quire.sentinels.imports.filter_chain import read_filters
from quire.sentinels.imports.imported import (
    MAX_WATCHES,
    Draft,
    Imported,
    Note,
    finish,
    is_on,
    mapping_of,
    number_of,
    text_of,
    texts_of,
)

#: Fields that are carried over; all others that have a value become notes.
_READ = {
    *("kind", "name", "url", "navigate", "use_browser", "filter", "filters", "headers", "cookies"),
    *("http_proxy", "https_proxy", "ssl_no_verify", "ignore_https_errors", "tags", "enabled"),
    *("method", "data", "json", "wait_for", "wait_for_selector", "wait_for_timeout"),
    *("additions_only", "deletions_only"),
}
#: Fields without a counterpart, and why none is needed.
_NOT_NEEDED = {
    "max_tries": "errors are reported when a page changes its state",
    "timeout": "the time limits of the service apply",
    "ignore_cached": "pages are asked for with their ETag if they have one",
    "encoding": "the encoding is detected",
    "compared_versions": "each check compares with the last version; see 'never_seen'",
    "treat_new_as_changed": "the first version of a page is not a change",
    "user_visible_url": "notices name the address of the page",
    "url_for_human": "notices name the address of the page",
    "contextlines": "it belongs to the report",
    "diff_tool": "programs are never run",
    "is_markdown": "it belongs to the report",
    "markdown_padded_tables": "it belongs to the report",
    "note": "it belongs to the report",
    "monospace": "it belongs to the report",
}


def import_jobs(data: str | bytes, file: str = "") -> Imported:
    r"""Import the jobs of urlwatch or webchanges.

    >>> found = import_jobs("url: http://a.example/\nfilter: css:.x,html2text\n---\ncommand: ls")
    >>> [str(note) for note in found.notes]
    ['ls: command: not imported: jobs that run programs are never imported']
    >>> found.watches[0].sentinel.parts[0].location.where
    ('.x',)

    Raises:
        WatchError: the text is not YAML, is too long or nested too deep.
        MissingExtra: PyYAML is not installed.
    """
    drafts: list[Draft] = []
    notes: list[Note] = []
    for document in read_yaml(as_text(data, file), file, most=MAX_WATCHES):
        if document.data is None:
            continue
        if not isinstance(document.data, dict):
            raise error_at("expected a job: a mapping with 'url'", "", file, document.line(""))
        found = _draft(document.data, notes)
        if found is not None:
            drafts.append(found)
    return finish(drafts, notes)


def _draft(job: dict[str, object], notes: list[Note]) -> Draft | None:
    address = text_of(job.get("url")) or text_of(job.get("navigate"))
    name = text_of(job.get("name"))
    if "command" in job or text_of(job.get("kind")) == "shell":
        title = name or text_of(job.get("command"))
        notes.append(
            Note(title, "command", "not imported: jobs that run programs are never imported")
        )
        return None
    if not address:
        notes.append(Note(name, "url", "not imported: the job has no address"))
        return None
    draft = Draft(name)
    draft.address("url", address)
    _fetching(draft, job, address)
    read_filters(draft, job.get("filter") or job.get("filters"))
    if is_on(job.get("additions_only")):
        draft.conditions.append({"text": {"matches": r"\S", "in": "added"}})
    if is_on(job.get("deletions_only")):
        draft.conditions.append({"text": {"matches": r"\S", "in": "removed"}})
    if job.get("enabled") is not None and not is_on(job.get("enabled")):
        draft.form["paused"] = True
    if texts_of(job.get("tags")):
        draft.form["tags"] = texts_of(job.get("tags"))
    for name, text in _leftovers(job):
        draft.note(name, text)
    return draft


def _leftovers(job: dict[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in job.items():
        if name in _READ or value in (None, "", [], {}, False):
            continue
        yield name, _NOT_NEEDED.get(name, "not carried over")


def _fetching(draft: Draft, job: dict[str, object], address: str) -> None:
    if "navigate" in job or is_on(job.get("use_browser")):
        draft.fetch["browser"] = True
    for name in ("headers", "cookies"):
        pairs = {key: text_of(value) for key, value in mapping_of(job.get(name)).items()}
        kept = {key: value for key, value in pairs.items() if value}
        if kept:
            draft.fetch[name] = kept
        if job.get(name) and len(kept) < max(len(pairs), 1):
            draft.note(name, "values that are not texts are not carried over")
    if is_on(job.get("ssl_no_verify")) or is_on(job.get("ignore_https_errors")):
        draft.fetch["verify_tls"] = False
    scheme = "https" if address.lower().startswith("https:") else "http"
    proxy = text_of(job.get(f"{scheme}_proxy"))
    if proxy:
        draft.fetch["proxy"] = proxy
    method = text_of(job.get("method")).upper() or "GET"
    if job.get("data") or job.get("json") or method != "GET":
        draft.pause("method", "only GET requests are supported")
    _waiting(draft, job)


def _waiting(draft: Draft, job: dict[str, object]) -> None:
    steps: list[object] = []
    for name in ("wait_for", "wait_for_selector", "wait_for_timeout"):
        value = job.get(name)
        if number_of(value):
            steps.append({"wait": min(max(number_of(value), 0.1), 60)})
        elif isinstance(value, str) and name != "wait_for_timeout":
            steps.append({"wait": value})
        elif value:
            draft.note(name, "not carried over")
    draft.steps("wait_for", steps)
