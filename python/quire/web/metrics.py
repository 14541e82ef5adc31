"""Metrics for Prometheus: the state of the store, and how long requests take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from time import monotonic

from prometheus_client import CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from quire.errors import StoreError
from quire.sentinels.store.counts import Counts

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
#: Counting reads whole tables; scrapes within this time get the same counts.
FRESH_S = 10.0
_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})


class Metrics:
    """The metrics of one application, in a registry of their own.

    Args:
        count: counts everything in the store.
        clock: the time in seconds.
    """

    def __init__(self, count: Callable[[], Counts], clock: Callable[[], float] = monotonic) -> None:
        self.registry: CollectorRegistry = CollectorRegistry(auto_describe=False)
        self._requests = Histogram(
            "quire_http_request_duration_seconds",
            "How long requests took.",
            ("method", "route", "status"),
            registry=self.registry,
        )
        self._store = _StoreCollector(count, clock)
        self.registry.register(self._store)
        ProcessCollector(registry=self.registry)

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request. The route is the pattern, so that the number of series is limited."""
        name = method if method in _METHODS else "other"
        self._requests.labels(name, route, str(status)).observe(seconds)

    def counts(self) -> Counts:
        """Return how much there is in the store, or was a few seconds ago."""
        return self._store.counts()

    def text(self) -> bytes:
        """Return all metrics as Prometheus reads them."""
        return generate_latest(self.registry)


class _StoreCollector(Collector):
    def __init__(self, count: Callable[[], Counts], clock: Callable[[], float]) -> None:
        self._count = count
        self._clock = clock
        self._last: tuple[float, Counts] | None = None
        self._lock = Lock()

    def collect(self) -> Iterable[Metric]:
        """Return the counts as metrics; without a database only that it is missing."""
        try:
            found = self.counts()
        except StoreError:
            yield GaugeMetricFamily("quire_up", "Whether the database answers.", 0)
            return
        yield GaugeMetricFamily("quire_up", "Whether the database answers.", 1)
        watches = {"active": found.watches, "paused": found.paused}
        yield _family(GaugeMetricFamily, "quire_watches", "Watches.", "state", watches)
        yield GaugeMetricFamily("quire_pages", "Pages that are watched.", found.pages)
        yield GaugeMetricFamily("quire_pages_due", "Pages that are due now.", found.due)
        yield GaugeMetricFamily("quire_versions", "Stored versions of pages.", found.versions)
        yield GaugeMetricFamily(
            "quire_versions_bytes", "Bytes of stored versions.", found.stored_bytes
        )
        yield _family(
            CounterMetricFamily, "quire_checks", "Checks of pages.", "outcome", found.checks
        )
        yield _family(CounterMetricFamily, "quire_events", "Events.", "kind", found.events)
        notices = {"waiting": 0, "dead": 0, **found.notices}
        yield _family(GaugeMetricFamily, "quire_notices", "Notices.", "state", notices)

    def counts(self) -> Counts:
        """Return the counts, which are read again only now and then."""
        with self._lock:
            now = self._clock()
            if self._last is None or now - self._last[0] >= FRESH_S:
                self._last = (now, self._count())
            return self._last[1]


def _family(
    kind: type[GaugeMetricFamily | CounterMetricFamily],
    name: str,
    text: str,
    label: str,
    values: Mapping[str, int],
) -> Metric:
    family = kind(name, text, labels=[label])
    for value, count in sorted(values.items()):
        family.add_metric([value], count)
    return family
