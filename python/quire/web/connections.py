"""Connections: how long a client may take to send the head of a request.

uvicorn waits for ever for the first request of a connection, and for the rest of a head that was
begun. A few hundred such connections would take all places of the service, so each has a clock
that runs while no request is being answered.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

#: Seconds for the head of a request. Browsers that connect early wait about 10 s with nothing to ask.
HEAD_S = 20.0


class PunctualProtocol(H11Protocol):
    """A connection that is closed if the head of its next request takes too long."""

    head_s = HEAD_S
    _clock: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock."""
        super().connection_made(transport)
        self._start_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_clock()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Stop the clock when a head is whole; start it when another one begins."""
        super().data_received(data)
        if self._is_answering:
            self._stop_clock()
        elif self._clock is None:
            self._start_clock()

    @property
    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn says that it is never None
        return cycle is not None and not cycle.response_complete

    def _start_clock(self) -> None:
        self._clock = self.loop.call_later(self.head_s, self._end_of_time)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _end_of_time(self) -> None:
        self._clock = None
        if not self._is_answering:
            self.transport.close()
