"""The routes of all pages of a watch."""

from __future__ import annotations

from fastapi import APIRouter

from quire.web.api.context import router
from quire.web.pages.one_watch import actions, changes, diff, form, history, noise, notices, why

routes: APIRouter = router()

for _part in (changes, diff, why, history, noise, form, notices, actions):
    routes.routes.extend(_part.routes.routes)
