"""What people read from a page: text, attributes, links, images, nodes, an lxml tree."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

import quire
from quire import _core
from quire.digest import lxml_tree
from tests import strategies
from tests.strategies import Tree


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>a<p>b", "a\nb"),
        ("a <b> b</b>\n c", "a b c"),
        ("a<br><br>b", "a\n\nb"),
        ("<pre>\n  a\n b</pre>c", "  a\n b\nc"),
        ("<table><tr><th>a<th>b<tr><td><p>c</p><td>d</table>", "a\tb\nc\td"),
        ("a<script>x</script><style>y</style><template>z</template><noscript>w</noscript>b", "ab"),
        ("<title>T</title><h1>H</h1>x", "T\nH\nx"),
        ("<p>&lt;b&gt;&nbsp;&copy", "<b>\xa0©"),
    ],
)
def test_text_is_in_reading_order(source: str, expected: str) -> None:
    assert quire.encode(source.encode()).text() == expected


def test_a_noscript_is_read_where_scripts_do_not_run() -> None:
    assert quire.encode(b"a<noscript><p>b</noscript>", scripting=False).text() == "a\nb"


def test_a_leaf_asked_for_itself_is_given_as_it_is() -> None:
    page = quire.encode(b"<p>a  &amp;\r\n b</p><!-- c  --><script>d  e</script>")
    texts = {page.tags[page.tag[node]]: page.text(node) for node in (5, 6, 8)}

    assert texts == {"#text": "d  e", "#comment": " c  "}
    assert page.text(5) == "a  &\n b"


@given(strategies.html)
def test_text_of_a_page_holds_the_words_of_its_visible_leaves(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    hidden = {"script", "style", "template", "noscript", "iframe", "noembed", "noframes"}
    hidden |= {"datalist"}

    def words(node: quire.Node) -> list[str]:
        if node.tag in hidden and (node.namespace == "html" or node.tag in {"script", "style"}):
            return []
        if node.tag == "#text":
            return node.text.replace("\x0c", " ").split(" ")
        return [word for child in node for word in words(child)]

    expected = "".join(word for text in words(page.root) for word in text.split())
    assert "".join(page.text().split()) == expected


def test_attributes_are_what_a_browser_sees() -> None:
    page = quire.encode(b"<p ID=a id=b title='x &lt;\r\ny' hidden data-X=&amp;amp>")

    assert page.attributes(4) == {
        "id": "a",
        "title": "x <\ny",
        "hidden": "",
        "data-x": "&amp",
    }
    assert page.attributes(0) == {}
    assert page.attrs[page.attr[4]] == b" ID=a id=b title='x &lt;\r\ny' hidden data-X=&amp;amp"


@given(strategies.html, st.sampled_from([(), ("class",), ("id", "href")]))
def test_lines_of_attributes_are_the_attributes_of_each_node(
    source: bytes, names: tuple[str, ...]
) -> None:
    page = quire.encode(source, kind="html")
    expected = [
        f"{page.tags[page.tag[node]]} {name}={value}"
        for node in range(page.n)
        for name, value in sorted(page.attributes(node).items())
        if not names or name in names
    ]

    assert page.attribute_lines(range(page.n), names) == expected


def test_lines_of_a_node_that_is_not_there_are_an_error() -> None:
    with pytest.raises(quire.NodeNotFound):
        quire.encode(b"<p id=a>").attribute_lines([99])


@given(strategies.html)
def test_the_hash_of_a_source_is_its_signature(source: bytes) -> None:
    signature = quire.encode(source, kind="html").signatures.source

    assert _core.hash128(source) == signature.to_bytes(16, "little")


@pytest.mark.parametrize("node", [-1, 8, 2**31, 2**70])
def test_a_node_that_is_not_there_is_named(node: int) -> None:
    page = quire.encode(b"<p>a<b>b")
    for ask in (page.text, page.attributes, page.path, page.node):
        with pytest.raises(quire.NodeNotFound, match="the page has nodes 0 to 7") as caught:
            ask(node)
        assert caught.value.n == 8
    with pytest.raises(quire.NodeNotFound):
        page.select("p", within=node)
    with pytest.raises(quire.NodeNotFound):
        page.xpath("p", node)


def test_a_node_is_a_number() -> None:
    page = quire.encode(b"<p>")
    for node in ("4", 4.0, None):
        with pytest.raises(TypeError):
            page.text(node)  # type: ignore[arg-type] # that is the point


def test_nodes_know_their_relatives() -> None:
    page = quire.encode(b"<ul id=menu><li class='a b'>1<li>2<!--x--><li>3</ul>")
    menu = page.node(page.select("#menu")[0])
    first, second, third = menu.children

    assert menu.parent is not None
    assert menu.parent.tag == "body"
    assert [child.text for child in menu] == ["1", "2", "3"]
    assert (first.next_sibling, second.previous_sibling) == (second, first)
    assert (third.next_sibling, first.previous_sibling) == (None, None)
    assert (page.root.parent, page.root.next_sibling, page.root.previous_sibling) == (None,) * 3
    assert menu.select("li:nth-child(2)") == [second]
    assert page.select(second.path()).tolist() == [second.number]
    assert (repr(menu), repr(first)) == (
        f"<Node {menu.number} ul#menu>",
        f"<Node {first.number} li.a.b>",
    )
    assert (first.namespace, first.attributes) == ("html", {"class": "a b"})
    assert len({first, page.node(first.number)}) == 1
    with pytest.raises(AttributeError):
        first.number = 1  # type: ignore[misc] # that is the point


SHOP = b"""<base href="../shop/"><base href="/never/">
<link rel=icon href=i.ico><a href=" fish?a&amp;b ">Fish <b>&amp;</b> chips</a><a name=x>no</a>
<map><area href=#top alt=Top></map><form action=/buy></form><iframe src="//cdn.example/x"></iframe>
<img src=a.png alt=Fish srcset="b.png 2x, c,d.png 100w"><picture><source srcset="e.webp"></picture>
<video poster=f.jpg></video><input type=image src=g.gif><svg><image xlink:href=h.svg /><a href=i>I</a></svg>
<a href="http://[">bad</a>"""


def test_links_are_resolved_against_the_first_base() -> None:
    links = quire.encode(SHOP).links("https://example.org/a/b/")

    assert [(link.tag, link.url, link.text) for link in links] == [
        ("link", "https://example.org/a/shop/i.ico", ""),
        ("a", "https://example.org/a/shop/fish?a&b", "Fish & chips"),
        ("area", "https://example.org/a/shop/#top", "Top"),
        ("form", "https://example.org/buy", ""),
        ("iframe", "https://cdn.example/x", ""),
        ("a", "https://example.org/a/shop/i", "I"),
        ("a", "http://[", "bad"),
    ]
    assert links[1].raw == " fish?a&b "
    assert quire.encode(SHOP).links()[1].url == "fish?a&b", "no address to resolve against"
    assert quire.encode(b"<a href=x>").links()[0].url == "x"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<base href=/b/>", "b/x"),
        ("<svg><base href=/b/></svg>", "x"),
        ("<template><base href=/b/></template>", "x"),
        ("<template><base href=/b/></template><base href=/c/>", "c/x"),
        ("<base target=_top><base href=/b/>", "b/x"),
        ("<base href='javascript:alert(1)'>", "x"),
        ("<base href='javascript://b/'>", "x"),
        ("<base href='data:text/html,b/'>", "x"),
        ("<base href='mailto:b/'>", "x"),
        ("<base href='http://['>", "x"),
        ("<?xml version='1.0'?><html><base href='/b/'/>", "b/x"),
        ("<?xml version='1.0'?><h:html><h:base href='/b/'/>", "b/x"),
        ("<?xml version='1.0'?><h:html><s:base href='/b/'/>", "x"),
        ("<?xml version='1.0'?><feed><base href='/b/'/>", "x"),
    ],
)
def test_only_a_base_of_html_that_can_be_one_counts(source: str, expected: str) -> None:
    page = quire.encode(f"{source}<a href=x>".encode(), recover=True)
    if page.kind == "xml":
        page = quire.encode(f"{source}<a href='x'/>".encode(), recover=True)

    assert [link.url for link in page.links("https://example.org/")] == [
        f"https://example.org/{expected}"
    ]


def test_nested_links_do_not_each_repeat_all_their_text() -> None:
    depth, text = 2_000, b"y" * 200_000
    source = (
        b"<?xml version='1.0'?><r>" + b"<a href='x'>" * depth + text + b"</a>" * depth + b"</r>"
    )

    links = quire.encode(source).links()

    assert len(links) == depth
    assert links[-1].text == "y" * 1_000
    assert max(len(link.text) for link in links) == 1_000


def test_images_are_every_candidate() -> None:
    images = quire.encode(SHOP).images("https://example.org/a/b/")

    assert [
        (image.tag, image.url.removeprefix("https://example.org/a/shop/"), image.alt)
        for image in images
    ] == [
        ("img", "a.png", "Fish"),
        ("img", "b.png", "Fish"),
        ("img", "c,d.png", "Fish"),
        ("source", "e.webp", ""),
        ("video", "f.jpg", ""),
        ("input", "g.gif", ""),
        ("image", "h.svg", ""),
    ]


def test_kinds_without_elements_have_no_links() -> None:
    page = quire.encode(b'{"a": "<a href=x>"}')

    assert (page.kind, page.links(), page.images()) == ("json", [], [])


def is_element(node: etree._Element) -> bool:
    """Tell an element from a comment or an instruction, which lxml-stubs do not know apart."""
    tag: object = node.tag
    return isinstance(tag, str)


def outline(node: etree._Element) -> tuple[object, ...]:
    """Write an lxml tree down by recursion."""
    return (
        node.tag if is_element(node) else "#comment",
        sorted(node.items()),
        node.text or "",
        [(outline(child), child.tail or "") for child in node],
    )


@given(strategies.plain_trees())
def test_the_lxml_tree_is_the_one_lxml_would_build(tree: Tree) -> None:
    source = f"<!doctype html><html><head></head><body>{strategies.written(tree)}</body></html>"

    ours = quire.encode(source.encode()).to_lxml()

    assert outline(ours) == outline(html.document_fromstring(source))


@given(strategies.plain_trees())
def test_the_lxml_tree_of_xml_is_the_one_lxml_would_build(tree: Tree) -> None:
    source = f"<?xml version='1.0'?><!--a--><r xmlns='urn:d' xmlns:p='urn:p' p:k='v'><p:x/>{strategies.written(tree)}</r><?pi d?>"

    ours = quire.encode(source.encode(), kind="xml").to_lxml()
    theirs = etree.fromstring(source.encode())

    assert outline(ours) == outline(theirs)
    assert etree.tostring(ours.getroottree(), method="c14n") == etree.tostring(
        theirs.getroottree(), method="c14n"
    )


@pytest.mark.parametrize(
    "source",
    [
        '<a xmlns="u"><b xmlns=""><c/></b><d/></a>',
        '<a xmlns="u"><b xmlns=""><c xmlns="v"/><d/></b><e/></a>',
        '<a xmlns:p="u"><p:b xmlns:p="v"><p:c/></p:b><p:d p:k="1"/></a>',
        '<a xmlns=""><b/></a>',
    ],
)
def test_namespaces_end_with_the_element_that_declares_them(source: str) -> None:
    ours = quire.encode(source.encode(), kind="xml").to_lxml()

    assert outline(ours) == outline(etree.fromstring(source))


def test_declarations_at_every_level_are_not_copied_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    depth = 200  # deeper ones lxml itself looks up level by level
    opening = "".join(f'<a xmlns:p{level}="u{level}">' for level in range(depth))
    page = quire.encode(f"<r>{opening}{'</a>' * depth}</r>".encode(), kind="xml")
    sizes: list[int] = []
    element = lxml_tree._Builder._element

    def watched(
        builder: lxml_tree._Builder, name: str, namespace: str, node: int, end: int
    ) -> None:
        element(builder, name, namespace, node, end)
        sizes.append(len(builder.open[-1][2]))

    monkeypatch.setattr(lxml_tree._Builder, "_element", watched)
    page.to_lxml()
    assert (len(sizes), max(sizes)) == (depth + 1, 1)


@given(strategies.html)
def test_every_html_page_has_an_lxml_tree_with_its_elements(source: bytes) -> None:
    page = quire.encode(source, kind="html")
    root = page.to_lxml()
    elements = sum(bool(page.tag_namespaces[tag]) for tag in page.tag)

    found = sum(map(is_element, root.iter()))
    assert found - elements in {0, 1}  # a div around what has no single root


def test_a_fragment_gets_a_root_in_lxml() -> None:
    root = quire.encode(b"a<td>b<!--c--><td>d", fragment="tr").to_lxml()

    assert root.tag == "div"
    assert [child.tag for child in root if is_element(child)] == ["td", "td"]


def test_names_that_xml_lacks_are_spelled_out_for_lxml() -> None:
    root = quire.encode(b'<p a:b=1 @c=2 xml:lang=en "=3>x\x01y<a\xc2\xb7/b>').to_lxml()
    paragraph = root.find("body/p")

    assert paragraph is not None
    assert sorted(paragraph.keys()) == [
        *("U00022", "U00040c", "aU0003Ab", "{http://www.w3.org/XML/1998/namespace}lang"),
    ]
    assert paragraph.text == "x\ufffdy"


@pytest.mark.parametrize("source", [b"[1]", b"plain words", b"\x89PNG\r\n\x1a\n"])
def test_a_page_without_elements_has_no_lxml_tree(source: bytes) -> None:
    with pytest.raises(TypeError, match="has no elements"):
        quire.encode(source).to_lxml()


def test_without_lxml_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002 - as the original
        locals: Mapping[str, object] | None = None,  # noqa: A002 - as the original
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        if name == "lxml":
            raise ImportError(name)
        return real(name, globals, locals, fromlist, level)

    page = quire.encode(b"<p>")
    monkeypatch.setattr(builtins, "__import__", absent)
    monkeypatch.delitem(sys.modules, "lxml.etree", raising=False)
    with pytest.raises(quire.MissingExtra, match=r"pip install 'quire\[lxml\]'"):
        page.to_lxml()


@given(st.sampled_from(["html", "xml"]), strategies.plain_trees())
def test_a_list_of_bytes_is_a_sequence(kind: str, tree: Tree) -> None:
    contents = quire.encode(strategies.written(tree).encode(), kind=kind).contents  # type: ignore[arg-type] # drawn
    listed = list(contents)

    assert len(contents) == len(listed)
    assert contents[:2] == tuple(listed[:2])
    assert contents[::-1] == tuple(reversed(listed))
    assert [contents[-index] for index in range(1, len(listed) + 1)] == listed[::-1]
    assert all(entry in contents for entry in listed)
    with pytest.raises(IndexError):
        contents[len(listed)]
