"""The published security faults of a similar tool that concern fetching, each as a test of ours.

The identifiers are those of changedetection.io; the notes name the cause of each. Faults of its
pages, templates, filters and archives belong to other tests.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from quire.errors import FetchCause, FetchFailed
from quire.sources.gate import Gate, Request, Secret, parse
from tests.sources.gate.servers import always, answer, names, open_gate, serving


def refusal(url: str, lookup: dict[str, list[str]] | None = None) -> FetchCause:
    async def run() -> FetchCause:
        async with Gate(lookup=names(lookup or {})) as gate:
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request(url))
            return caught.value.cause

    return asyncio.run(run())


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    path = tmp_path / "planted.txt"
    path.write_text("planted", encoding="utf-8")
    return path


def test_2022_03_file_address_in_the_fetcher(planted: Path) -> None:
    assert refusal(f"file://{planted}") is FetchCause.BAD_URL


def test_cve_2024_51483_source_prefix_before_a_file_address(planted: Path) -> None:
    assert refusal(f"source:file://{planted}") is FetchCause.BAD_URL
    assert refusal("source:http://127.0.0.1/") is FetchCause.BAD_URL


def test_cve_2024_51998_file_address_with_one_slash(planted: Path) -> None:
    assert refusal(f"file:{planted}") is FetchCause.BAD_URL


def test_cve_2024_56509_file_address_without_a_slash() -> None:
    for text in ("file:../../../../etc/passwd", "FILE:..", " file:..", "file:", "file::"):
        assert refusal(text) is FetchCause.BAD_URL


def test_cve_2023_24769_active_scheme_in_a_watched_address() -> None:
    for text in ("javascript:alert(document.domain)", "data:text/html,<script>", "JaVaScRiPt:x"):
        with pytest.raises(FetchFailed):
            parse(text)


def test_cve_2025_52558_error_text_of_the_fetched_site_is_one_plain_line() -> None:
    """The text is escaped where it is shown; here it must not carry control characters."""
    evil = b"HTTP/1.1 <script>alert(1)</script>\x1b[2J\r\n\r\n"

    async def run() -> str:
        async with serving(always(evil)) as seen, open_gate() as gate:
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request(seen.url(), obey_robots=False))
            return str(caught.value)

    assert asyncio.run(run()).isprintable()


def test_cve_2025_62780_a_field_is_checked_wherever_it_comes_from() -> None:
    """The request checks itself, so forms, API, imports and files share one check."""
    with pytest.raises(FetchFailed):
        Request("http://a.example/", headers={"X": "a\r\nb"})
    with pytest.raises(FetchFailed):
        Request("gopher://a.example/")


def test_cve_2026_27696_cloud_metadata_is_refused() -> None:
    for host in ("169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "192.0.0.192",
                 "168.63.129.16", "[::ffff:169.254.169.254]"):  # fmt: skip
        assert refusal(f"http://{host}/latest/meta-data/") is FetchCause.REFUSED_ADDRESS
    lookup = {"metadata.example": ["169.254.169.254"]}
    assert refusal("http://metadata.example/", lookup) is FetchCause.REFUSED_ADDRESS


def test_ghsa_rph4_96w6_q594_check_and_client_read_one_host() -> None:
    for text in (r"http://127.0.0.1\@public.example/", r"http://127.0.0.1:80\@public.example/"):
        assert refusal(text, {"public.example": ["93.184.216.34"]}) is FetchCause.BAD_URL


def test_2026_05_a_setting_that_names_a_base_address_goes_through_the_gate() -> None:
    """Other services are asked by the same function; quire has one way out."""
    assert refusal("http://10.0.0.5:11434/v1/models") is FetchCause.REFUSED_ADDRESS


def test_ghsa_gwph_fp79_379w_shared_address_space_is_refused() -> None:
    for host in ("100.64.0.0", "100.64.0.1", "100.127.255.255"):
        assert refusal(f"http://{host}/") is FetchCause.REFUSED_ADDRESS


def test_no_id_redirects_are_checked_again() -> None:
    async def run() -> FetchCause:
        away = always(answer(b"", "302 Found", "Location: http://169.254.169.254/"))
        async with serving(away) as seen, open_gate() as gate:
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(Request(seen.url(), obey_robots=False))
            return caught.value.cause

    assert asyncio.run(run()) is FetchCause.REFUSED_ADDRESS


def test_no_id_certificates_are_verified_by_default() -> None:
    assert Request("https://a.example/").verify_tls


def test_no_id_secrets_stay_out_of_errors() -> None:
    async def run() -> str:
        async with Gate() as gate:
            request = Request(
                "http://me:planted-1@127.0.0.1/", headers={"X-Key": Secret("planted-2")}
            )
            with pytest.raises(FetchFailed) as caught:
                await gate.fetch(request)
            return repr(caught.value) + caught.value.url + repr(request)

    assert "planted" not in asyncio.run(run())
