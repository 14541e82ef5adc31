"""Broken pages: real pages damaged in the ways that pages are damaged, and bytes from nowhere.

Everything follows from the seed and the number of the case, so a failure is made again by its
number alone, in any order and on any number of threads.
"""

import random
from collections.abc import Sequence

#: Windows keep a hundred thousand cases to minutes; one case in `WHOLE_EVERY` uses a whole page.
WINDOW_BYTES = 8192
WHOLE_EVERY = 200

#: What random inputs are drawn from: markup that steers a parser, beside plain bytes.
FRAGMENTS = (
    b"<", b">", b"</", b"/>", b"<!--", b"-->", b"--!>", b"<!", b"<?", b"?>", b"<![CDATA[", b"]]>", b"&", b"&amp", b"&#0;",
    b"&#x80;", b"=", b"'", b'"', b"\0", b"\r", b"\n", b"\r\n", b"\t", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x80", b"\xe2\x82",
    b"<div>", b"</div>", b"<p>", b"</p>", b"<b>", b"</b>", b"<i a=1>", b"</i>", b"<a href=x>", b"</a>", b"<table>", b"<tr>", b"<td>",
    b"</table>", b"<select>", b"<option>", b"<template>", b"</template>", b"<svg>", b"<math>", b"<mi>", b"<foreignObject>", b"<script>",
    b"</script>", b"<style>", b"<title>", b"<textarea>", b"</textarea>", b"<pre>\n", b"<plaintext>", b"<html>", b"<head>", b"</head>",
    b"<body>", b"</body>", b"</html>", b"<frameset>", b"<form>", b"</form>", b"<li>", b"<image>", b"<br>", b"</br>", b"<DIV CLASS=A>",
    b"<meta charset=utf-16>", b"<meta charset=shift_jis>", b"<!doctype html>", b"<?xml version='1.0'?>", b"<!DOCTYPE r [<!ENTITY e 'x'>]>",
    b"{", b"}", b"[", b"]", b'"k":', b",", b"1e9", b"true", b"\\u0041", b" ", b"x", b"word ", b"\x1b$B", b"~{",
)  # fmt: skip


def mutated(pages: Sequence[bytes], number: int, seed: int) -> bytes:
    """A real page, or 8 KiB of one, with one to four injuries."""
    draw = random.Random((seed << 32) + number)
    page = draw.choice(pages)
    body = bytearray(page if number % WHOLE_EVERY == 0 else _window(page, draw))
    for _ in range(draw.randint(1, 4)):
        draw.choice(INJURIES)(body, pages, draw)
    return bytes(body)


def random_input(number: int, seed: int) -> bytes:
    """Bytes that were never a page: uniform bytes, markup fragments, or both, up to about 1 KiB."""
    draw = random.Random((seed << 32) + number + (1 << 31))
    style = number % 3
    if style == 0:
        return draw.randbytes(draw.randint(0, 1024))
    parts = draw.choices(FRAGMENTS, k=draw.randint(0, 80))
    if style == 1:
        parts = [
            part if draw.random() < 0.8 else draw.randbytes(draw.randint(1, 8)) for part in parts
        ]
    return b"".join(parts)


def _window(page: bytes, draw: random.Random) -> bytes:
    start = draw.randint(0, max(0, len(page) - WINDOW_BYTES))
    # One window in four begins where the page does, so that heads and doctypes are met too.
    return page[:WINDOW_BYTES] if draw.random() < 0.25 else page[start : start + WINDOW_BYTES]


def _cut(body: bytearray, _: Sequence[bytes], draw: random.Random) -> None:
    """End the page in the middle of anything."""
    del body[draw.randint(0, len(body)) :]


def _cut_in_tag(body: bytearray, _: Sequence[bytes], draw: random.Random) -> None:
    """End the page inside a tag."""
    place = body.find(b"<", draw.randint(0, len(body)))
    if place >= 0:
        del body[place + draw.randint(1, 12) :]


def _flip(body: bytearray, _: Sequence[bytes], draw: random.Random) -> None:
    """Change up to eight bytes to any others."""
    for _count in range(min(len(body), draw.randint(1, 8))):
        body[draw.randrange(len(body))] = draw.randrange(256)


def _splice(body: bytearray, pages: Sequence[bytes], draw: random.Random) -> None:
    """Put a piece of another page over a piece of this one."""
    other = draw.choice(pages)
    start = draw.randint(0, len(other))
    piece = other[start : start + draw.randint(1, 512)]
    place = draw.randint(0, len(body))
    body[place : place + draw.randint(0, 512)] = piece


def _delete_tag(body: bytearray, _: Sequence[bytes], draw: random.Random) -> None:
    """Take out one tag, so that others lose their partner."""
    start = body.find(b"<", draw.randint(0, len(body)))
    end = body.find(b">", start)
    if 0 <= start < end:
        del body[start : end + 1]


def _repeat_piece(body: bytearray, _: Sequence[bytes], draw: random.Random) -> None:
    """Write a piece twice."""
    start = draw.randint(0, len(body))
    piece = body[start : start + draw.randint(1, 200)]
    body[start:start] = piece


def _swap_pieces(body: bytearray, _: Sequence[bytes], draw: random.Random) -> None:
    """Exchange two neighbouring pieces, which mis-nests what they hold."""
    a = draw.randint(0, len(body))
    b = min(len(body), a + draw.randint(1, 100))
    c = min(len(body), b + draw.randint(1, 100))
    body[a:c] = body[b:c] + body[a:b]


def _insert_fragment(body: bytearray, _: Sequence[bytes], draw: random.Random) -> None:
    """Put markup where it was not expected."""
    place = draw.randint(0, len(body))
    body[place:place] = b"".join(draw.choices(FRAGMENTS, k=draw.randint(1, 4)))


INJURIES = (
    _cut,
    _cut_in_tag,
    _flip,
    _splice,
    _delete_tag,
    _repeat_piece,
    _swap_pieces,
    _insert_fragment,
)
