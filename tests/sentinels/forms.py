"""Forms of watches for property tests: every field, in all the ways in which it can be written."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from quire.sentinels.conditions import PAGE_STATES, PICKS, SCOPES
from quire.sentinels.form import PRESETS
from quire.sentinels.form.files import DEFAULTS
from quire.sentinels.form.watch import BUNDLES, FINDERS, LISTED, WEEKDAYS
from quire.sentinels.parts import ASPECTS

Form = dict[str, Any]

# Texts that YAML could take for something else are as likely as all others together.
TRICKY = ["no", "1e5", "09:30", "~", "null", "0x1f", "- a", "a: b", "#x", "'", "é\u2028\x85", "1_0"]
texts = st.one_of(
    st.sampled_from(TRICKY),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20),
).filter(str.strip)
names = st.text("abcXYZ0.- é", min_size=1, max_size=8).filter(str.strip)
urls = st.sampled_from(
    ["https://a.example/", "http://b.example/menu?x=1#y", "https://c.example:8443/@me"]
)
selectors = st.sampled_from(["p", "#a", "li:nth-child(2) > b", "//p[1]", "(//a)[2]", "/items/0/x"])
text_selectors = st.sampled_from(["//a/@href", "xpath:count(//li)"])
patterns = st.sampled_from([r"\d+", "(?i)sold out", "^a|b$", "[é]"])
whole_numbers = st.integers(0, 10**9)
numbers = st.one_of(
    st.integers(-(10**6), 10**6), st.floats(-1e15, 1e15, allow_nan=False), st.just(1e-7)
)
units = st.sampled_from(["s", "min", "Minutes", "h", "day", "w"])
durations = st.one_of(
    st.integers(60, 10**6),
    st.floats(60, 10**6),
    st.builds("{} {}".format, st.integers(60, 999), units),
    st.just("1 h 30 min"),
    st.just("100000.5s"),
)
yes = st.sampled_from([True])
clocks = st.sampled_from(["9:30", "00:00", "24:00", "23:59"])


def one_or_list(each: st.SearchStrategy[str], min_size: int = 0) -> st.SearchStrategy[Any]:
    return st.one_of(each, st.lists(each, min_size=min_size, max_size=3))


def some_of(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Form]:
    """Draw a mapping with some of the fields; a null stands for a field that is left out."""
    return st.fixed_dictionaries(
        {}, optional={name.rstrip("_"): st.none() | each for name, each in fields.items()}
    )


windows = some_of(days=one_or_list(st.sampled_from(WEEKDAYS), 1), from_=clocks, to=clocks)
several_windows = st.one_of(windows, st.lists(windows, max_size=2))
ignores = some_of(
    case=st.booleans(),
    order=st.booleans(),
    text=one_or_list(patterns),
    queries=one_or_list(texts),
)
aspects = one_or_list(st.sampled_from(("content", *ASPECTS)), 1)
element_parts = some_of(
    where=one_or_list(selectors),
    without=one_or_list(selectors),
    watch=aspects,
    attributes=one_or_list(names),
    ignore=ignores,
)
parts = st.one_of(element_parts, some_of(where=one_or_list(text_selectors, 1), ignore=ignores))

counts = st.sampled_from(["at_least", "at_most", "equals", "not", "above", "below"])
moves = st.sampled_from(["below", "above", "falls_below", "rises_above"])
amounts = st.one_of(
    numbers.map(abs), st.sampled_from(["5 %", "0.25percent", "12.5 per cent", "0.0000001 %"])
)
steps_by = st.sampled_from(["falls_by", "rises_by", "changes_by"])


def conditions(part_names: list[str]) -> st.SearchStrategy[Any]:
    """Draw conditions over the parts of a watch; none for a watch with a single part."""
    named = st.sampled_from(part_names) if part_names else st.none()
    must_name: dict[str, st.SearchStrategy[Any]] = {"part": named} if len(part_names) > 1 else {}
    may_name = {} if must_name else {"part": named}

    def about(
        needed: dict[str, st.SearchStrategy[Any]], optional: dict[str, st.SearchStrategy[Any]]
    ) -> st.SearchStrategy[Form]:
        nullable = {name: st.none() | each for name, each in optional.items()}
        return st.fixed_dictionaries({**needed, **must_name}, optional={**nullable, **may_name})

    every: dict[str, st.SearchStrategy[Any]] = {
        "changed": st.one_of(
            yes,
            st.fixed_dictionaries({"aspects": one_or_list(st.sampled_from(ASPECTS), 1)}),
        ),
        "text": st.one_of(
            about(
                {"has": one_or_list(texts, 1)},
                {"in": st.sampled_from(SCOPES), "all": st.booleans()},
            ),
            about({"matches": patterns}, {"in": st.sampled_from(SCOPES)}),
        ),
        "number": st.one_of(st.tuples(moves, numbers), st.tuples(steps_by, amounts)).flatmap(
            lambda move: about({move[0]: st.just(move[1])}, {"pick": st.sampled_from(PICKS)})
        ),
        "count": st.one_of(
            st.builds(
                'count("{}") >= {}'.format, selectors, whole_numbers.filter(lambda n: n < 10**9)
            ),
            st.fixed_dictionaries({"of": selectors | st.just("//a/@href")}),
            st.builds(lambda of, how, n: {"of": of, how: n}, selectors, counts, whole_numbers),
        ),
        "similarity": st.dictionaries(
            st.sampled_from(["structure", "content"]), st.floats(0, 1), min_size=1
        ),
        "never_seen": named if len(part_names) > 1 else yes,
        "new_entry": yes,
        "new_record": named if len(part_names) > 1 else yes,
        "unchanged": durations,
        "fired": st.one_of(
            texts, st.fixed_dictionaries({"sentinel": texts}, optional={"within": durations})
        ),
        "page": one_or_list(st.sampled_from(PAGE_STATES), 1),
    }
    if len(part_names) <= 1:
        every["text"] |= texts
    simple = st.one_of(
        st.just("changed"),
        *(st.fixed_dictionaries({name: each}) for name, each in every.items()),
        st.fixed_dictionaries({"unchanged": durations, "page": st.just("gone")}),
    )
    return st.recursive(
        simple,
        lambda inside: st.one_of(
            st.fixed_dictionaries({"all": st.lists(inside, min_size=1, max_size=3)}),
            st.fixed_dictionaries({"any": st.lists(inside, min_size=1, max_size=3)}),
            st.fixed_dictionaries({"not": inside}),
        ),
        max_leaves=4,
    )


steps = st.one_of(
    st.fixed_dictionaries({"open": urls}),
    st.fixed_dictionaries({"click": selectors}, optional={"seconds": st.floats(0.1, 60)}),
    st.fixed_dictionaries({"type": selectors, "text": texts}),
    st.fixed_dictionaries({"press": st.just("Enter")}),
    st.fixed_dictionaries({"wait": st.floats(0.1, 60) | selectors}),
)
headers = st.dictionaries(st.sampled_from(["Accept-Language", "X-Key"]), st.just("a ü <b>"))
public_headers = st.dictionaries(st.sampled_from(["Accept-Language", "DNT"]), st.just("a ü <b>"))
fetching = st.one_of(
    some_of(
        browser=st.sampled_from([False]),
        headers=headers,
        cookies=headers,
        user=texts,
        password=texts,
        proxy=urls | st.just("http://me:pw@p.example:3128"),
        robots=st.booleans(),
        verify_tls=st.booleans(),
    ),
    st.fixed_dictionaries(
        {"steps": st.lists(steps, max_size=3)},
        optional={"browser": yes, "headers": public_headers, "cookies": headers, "user": texts},
    ),
    st.fixed_dictionaries({"browser": yes}, optional={"headers": public_headers}),
)
targets = st.sampled_from(["mailto:me@example.org", "https://h.example/x", "tgram://a:b/c?x=1"])
notices = st.one_of(
    one_or_list(targets),
    some_of(
        to=one_or_list(targets),
        bundle=st.sampled_from(BUNDLES),
        quiet=several_windows,
        zone=st.sampled_from(["Europe/Berlin", "UTC"]),
        at_most=st.integers(0, 10_000),
        errors=st.booleans(),
        text=st.sampled_from(["{name}: {url}", "changed", "{", "}{"]),
    ),
)
other_fields = {
    "every": durations,
    "zone": st.sampled_from(["Europe/Berlin", "UTC", "America/New_York"]),
    "windows": several_windows,
    "jitter": durations,
    "slow_down": durations,
    "fetch": fetching,
    "notify": notices,
    "tags": one_or_list(texts),
    "learn_noise": st.booleans(),
    "follow": st.booleans(),
    "paused": st.booleans(),
    "keep": some_of(
        versions=st.integers(1, 10**6),
        age=durations,
        bytes=st.integers(1, 10**15) | st.sampled_from(["500 MB", "1.5gb", " 7B "]),
    ),
}
finders = st.fixed_dictionaries(
    {"in": st.sampled_from(FINDERS)},
    optional={
        "matching": patterns,
        "most": st.integers(1, 100_000),
        "every": durations,
        "tell": one_or_list(st.sampled_from(LISTED)),
        "elsewhere": st.booleans(),
    },
)


@st.composite
def forms(draw: st.DrawFn) -> Form:
    """Draw a form that is valid."""
    form: Form = (
        {"url": draw(urls)}
        if draw(st.booleans())
        else {"urls": draw(st.lists(urls, min_size=1, max_size=3))}
    )
    kind = draw(st.sampled_from(["one part", "parts", "preset"]))
    part_names: list[str] = []
    if kind == "parts":
        form["parts"] = draw(st.dictionaries(names, parts, min_size=1, max_size=3))
        part_names = list(form["parts"])
    else:
        form |= draw(element_parts if kind == "preset" else parts)
    if kind == "preset":
        preset = form["preset"] = draw(st.sampled_from(list(PRESETS)))
        if preset == "new entry":  # entries are texts, of which nothing can be left out
            for name in ("without", "watch", "attributes"):
                form.pop(name, None)
    if draw(st.booleans()):
        form["when"] = draw(conditions(part_names))
    form |= draw(some_of(name=texts, find=finders, **other_fields))
    if draw(st.booleans()) and form.get("every") is None:
        form["cron"] = "0 9 * * mon-fri"
    return form


def defaults() -> st.SearchStrategy[Form]:
    """Draw defaults that are valid."""
    fields = {name: each for name, each in other_fields.items() if name in DEFAULTS}
    # Joined with a watch that uses the browser, a proxy or a private header would be refused.
    fields["fetch"] = some_of(
        headers=public_headers,
        cookies=headers,
        robots=st.booleans(),
        verify_tls=st.booleans(),
    )
    return some_of(**fields)
