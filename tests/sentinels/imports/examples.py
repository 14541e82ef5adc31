"""Files of other tools, and what tests ask about their imports."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import quire
from quire.sentinels.form import Watch
from quire.sentinels.groups.oracle import evaluate_alone
from quire.sentinels.imports import Imported
from tests.sentinels.test_groups import ABOUT

URL = "https://shop.example/fish"


def noted(found: Imported) -> dict[str, str]:
    texts: dict[str, str] = {}
    for note in found.notes:
        texts[note.field] = "\n".join([*filter(None, [texts.get(note.field)]), note.text])
    return texts


def fires(watch: Watch, old: str, new: str) -> bool:
    before, after = (quire.encode(page.encode(), kind="html") for page in (old, new))
    return evaluate_alone(watch.sentinel, before, after, ABOUT).fired


WATCH: dict[str, Any] = {
    "uuid": "0c6a2a4e-1111",
    "url": "https://me:p%40ss@shop.example/fish",
    "title": "Fish",
    "tags": ["t-1", "t-9"],
    "include_filters": ["#price", "xpath://li[1]", "json:$.items[0].price"],
    "subtractive_selectors": [".ad", "//footer"],
    "ignore_text": ["visitors (today)", "/served in \\d+ ms/i"],
    "trigger_text": ["in stock", "/only \\d+ left/"],
    "text_should_not_be_present": ["captcha"],
    "filter_text_removed": False,
    "check_unique_lines": True,
    "sort_text_alphabetically": True,
    "time_between_check": {"weeks": None, "days": None, "hours": 2, "minutes": 30, "seconds": None},
    "time_between_check_use_default": False,
    "time_schedule_limit": {
        "enabled": True,
        "timezone": "Europe/Berlin",
        "monday": {
            "enabled": True,
            "start_time": "22:00",
            "duration": {"hours": "8", "minutes": "30"},
        },
        "tuesday": {"enabled": False},
    },
    "fetch_backend": "html_webdriver",
    "browser_steps": [
        {"operation": "Goto site", "selector": "", "optional_value": ""},
        {"operation": "Click element", "selector": "#accept", "optional_value": ""},
        {"operation": "Enter text in field", "selector": "#q", "optional_value": "fish"},
    ],
    "webdriver_delay": 3,
    "headers": {"X-Key": "header-secret"},
    "notification_urls": ["tgram://target-secret/1"],
    "conditions": [
        {"operator": ">=", "field": "extracted_number", "value": "5"},
        {"operator": "contains", "field": "page_filtered_text", "value": "fish"},
    ],
    "conditions_match_logic": "ANY",
    "processor": "text_json_diff",
    "notification_body": "{{ watch_url }}",
    "last_checked": 1700000000,
    "previous_md5": "x",
}


STORE: dict[str, Any] = {
    "watching": {"0c6a2a4e-1111": WATCH, "b": {"url": "https://b.example/", "paused": True}},
    "settings": {
        "headers": {"User-Agent": "x"},
        "requests": {
            "time_between_check": {"hours": 3},
            "jitter_seconds": 20,
            "extra_proxies": [{"proxy_name": "home", "proxy_url": "http://u:p@p.example:1"}],
        },
        "application": {
            "notification_urls": ["mailto:all@example.org"],
            "global_ignore_text": ["cookies"],
            "tags": {"t-1": {"title": "food"}},
        },
    },
}


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


ONE = json.dumps({"url": URL}).encode()


JOBS = """\
# two tools, one kind of file
name: Version
url: https://a.example/
filter:
  - css: {selector: main, exclude: .ad}
  - html2text
  - grep: 'Current.*version'
  - grepi: (?i)beta
  - re.sub: ', \\d+ downloads'
  - strip
  - sort
headers: {X-Key: 7}
cookies: {a: b}
ssl_no_verify: yes
https_proxy: http://u:p@p.example:3128
timeout: 30
---
navigate: https://b.example/#2
filter: element-by-id:content,html2text
---
name: commands
command: rm -rf /
---
url: https://c.example/
use_browser: true
enabled: false
additions_only: true
wait_for_selector: '#ready'
filters:
  - xpath: {path: //a/@href, maxitems: 2}
  - keep_lines_containing: .pdf
"""


MONITOR: dict[str, Any] = {
    "name": "News",
    "uri": "https://d.example/news",
    "config": json.dumps(
        {
            "selections": [
                {
                    "frames": [
                        {
                            "index": 0,
                            "includes": [
                                {"type": "xpath", "expr": "(//main)[1]"},
                                {"type": "css", "expr": ".top"},
                            ],
                            "excludes": [{"type": "css", "expr": ".ad"}],
                        }
                    ],
                    "dynamic": True,
                    "delay": 2,
                }
            ],
            "ignoreEmptyText": True,
            "includeStyle": False,
            "dataAttr": "text",
            "regexp": {"expr": "v[0-9]+", "flags": "g"},
        }
    ),
    "tags": ["a", "b"],
    "content_type": 2,
    "state": 40,
    "schedule": '{"type":"INTERVAL","params":{"interval":4447}}',
    "ts": "2022-03-27T15:51:15.667Z",
    "rules": [{"x": 1}],
}
