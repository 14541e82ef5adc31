"""Draw the picture of the README: ``quire diff`` in a terminal, and the redline beside it.

Run it from the root of the repository after the output of ``quire diff`` has changed:

    .venv/bin/python tools/readme_picture.py

It compares two versions of a page of the demo, puts both views on one HTML page, and has Chromium
take a screenshot of it: ``docs/pictures/diff.png``. Set ``CHROMIUM`` if Chromium is not on PATH.
"""

import base64
import io
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "diff.png"
WIDTH, HEIGHT = 1040, 440
CHANGES = {
    b"Friday": b"Saturday",
    b"7.95": b"8.10",
    b"Prices at the quay, before nine.": b"Prices at the quay, before ten.</p><p>Closed on Sunday.",
}
#: Background, foreground, and the eight colours of a terminal; dark enough for white text on them.
THEME = TerminalTheme(
    (27, 29, 34),
    (230, 230, 230),
    [
        (27, 29, 34),
        (224, 92, 92),
        (88, 170, 96),
        (214, 180, 90),
        (96, 150, 220),
        (190, 120, 200),
        (90, 180, 200),
        (230, 230, 230),
    ],
)
COMMAND = ["diff", "friday.html", "saturday.html"]

PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 14px; background: #fff; display: flex; gap: 14px; height: {height}px;
  box-sizing: border-box; font: 15px sans-serif }}
figure {{ margin: 0; display: flex; flex-direction: column; flex: 1; border: 1px solid #bbb;
  border-radius: 8px; overflow: hidden }}
figcaption {{ padding: 8px 14px; background: #eee; color: #333; font: 13px monospace }}
pre {{ margin: 0; padding: 14px; flex: 1; background: #1b1d22; color: #e6e6e6;
  font: 14px/1.5 monospace }}
iframe {{ border: 0; flex: 1; width: 100%; background: #fff }}
</style>
<figure style="flex: 1.15"><figcaption>$ quire {command}</figcaption>{terminal}</figure>
<figure><figcaption>$ quire {command} -o redline.html</figcaption>
<iframe src="data:text/html;base64,{redline}"></iframe></figure>
"""


def main() -> None:
    """Write the picture."""
    chromium = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    )
    if chromium is None:
        sys.exit("error: no Chromium found\nhint: set CHROMIUM to its path")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        old = files("quire.demo").joinpath("site", "market.html").read_bytes()
        new = old
        for before, after in CHANGES.items():
            new = new.replace(before, after)
        (work / "friday.html").write_bytes(old)
        (work / "saturday.html").write_bytes(new)
        shown = _quire(*COMMAND, folder=work)
        _quire(*COMMAND, "-o", "redline.html", folder=work)
        page = work / "picture.html"
        page.write_text(
            PAGE.format(
                height=HEIGHT,
                command=" ".join(COMMAND),
                terminal=_as_html(shown),
                redline=base64.b64encode((work / "redline.html").read_bytes()).decode(),
            ),
            encoding="utf-8",
        )
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                chromium,
                *(
                    "--headless",
                    "--no-sandbox",
                    "--hide-scrollbars",
                    "--force-device-scale-factor=1.15",
                ),
                *(f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={PICTURE}", page.as_uri()),
            ],
            check=True,
            capture_output=True,
        )


def _quire(*arguments: str, folder: Path) -> str:
    """Run a command as on a terminal with colours, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "quire.cli", *arguments],
        cwd=folder,
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": "80"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def _as_html(shown: str) -> str:
    """Turn terminal output with its colour codes into HTML."""
    console = Console(record=True, file=io.StringIO(), width=80)
    console.print(Text.from_ansi(shown), soft_wrap=True)
    return console.export_html(theme=THEME, inline_styles=True, code_format="<pre>{code}</pre>")


if __name__ == "__main__":
    main()
