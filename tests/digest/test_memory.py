"""Encoding takes memory in proportion to the page, also where every byte is a node."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import quire

N = 12_000_000
source = {source}
quire.encode(b"<p>Fish")


def measured(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(name))


with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")  # what making the source took does not count
before = measured("VmRSS")
page = quire.encode(source, kind="{kind}", recover=True)
signatures = page.signatures
print((measured("VmHWM") - before) / len(source))
"""
# Large blocks go back to the system when they are freed. By default glibc keeps some of up to 32 MB,
# depending on where they lie: 0 to 11 MB for the same page.
FIXED = {"MALLOC_MMAP_THRESHOLD_": "131072"}
# What a page may take at most, as a multiple of its length.
MOST = 30
FORMATS = "<p><b><i><u><s><tt>"  # copied into each of the elements that follow
MOVE = "<table>x<tr></table>"  # from here on, nodes are not in the order of their tags
SHAPES = [
    ("json", 'b"[" + b"0," * (N // 2) + b"0]"'),
    ("json", 'b"[" * N'),
    ("json", 'b"[" * (N // 2) + b"]" * (N // 2)'),
    ("json", """b'{"":' * (N // 4)"""),
    ("json", """b"{" + b'"":0,' * (N // 5) + b'"":0}'"""),
    ("json", 'b"[" + b"[]," * (N // 3) + b"0]"'),
    ("json", """b"{" + b",".join(b'"%x":0' % i for i in range(N // 10)) + b"}\""""),
    ("text", r'b"a\n" * (N // 2)'),
    ("text", r'b"a\n\n" * (N // 3)'),
    ("text", r'b"a\r\n\r\n" * (N // 5)'),
    ("text", r'b"".join(b"%x\n\n" % i for i in range(N // 8))'),
    ("text", r'("a\n\n" * (N // 6)).encode("utf-16")'),
    ("html", 'b"<p>" * (N // 3)'),
    ("html", 'b"<P><p>" * (N // 6)'),
    ("html", 'b"<!>" * (N // 3)'),
    ("html", 'b"<p>&lt" * (N // 6)'),
    ("html", 'b"<b>x" * (N // 4)'),
    ("html", 'b"<b><p></b>x" * (N // 11)'),
    ("html", 'b"<i><p>" + b"<x>" * (N // 3) + b"</i>"'),
    ("html", 'b"<svg>" + b"<g>" * (N // 3)'),
    ("html", 'b"<template>" + b"<td>" * (N // 4)'),
    ("html", 'b"<table><td>" * (N // 11)'),
    ("html", 'b"<table>" + b"<b>x<tr>" * (N // 8)'),
    ("html", 'b"<table><b>x<tr>" * (N // 15)'),
    ("html", 'b"<table>" + b"<b>x" * (N // 4)'),
    ("html", f'b"{FORMATS}" + b"<p>x" * (N // 4)'),
    ("html", f'b"{FORMATS}" + b"<P>x<p>x" * (N // 8)'),
    ("html", f'b"{FORMATS}" + b"<p>x" * (N // 4) + b"{MOVE}"'),
    ("html", f'b"{MOVE}{FORMATS}" + b"<p>x" * (N // 4) + b"</p>"'),
    ("html", f'b"<x>" * 300 + b"{MOVE}{FORMATS}" + b"<p>x" * (N // 4)'),
    ("html", 'b"<a " + b" ".join(b"%x" % i for i in range(N // 7)) + b">"'),
    ("html", 'b"".join(b"<x%x>" % i for i in range(N // 8))'),
    ("xml", 'b"<r>" + b"<a/>" * (N // 4) + b"</r>"'),
    ("xml", 'b"<a>" * (N // 3)'),
    ("xml", 'b"<r>" + b"<a/>x" * (N // 5) + b"</r>"'),
    ("xml", 'b"<r>" + b"".join(b"<a%x/>" % i for i in range(N // 9)) + b"</r>"'),
]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("kind", "source"), SHAPES)
def test_a_page_with_a_node_for_every_few_bytes_takes_little_memory(kind: str, source: str) -> None:
    program = PROGRAM.format(source=source, kind=kind)
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **FIXED},
    )
    assert float(done.stdout) <= MOST
