"""What was asked of the archive, and what ``ratios`` found."""

from collections.abc import Iterator, Mapping

from benchmarks import corpora
from benchmarks.archive.rivals import Measured
from benchmarks.report import Goal, at_least, at_most

#: So many times smaller than each page under gzip -9: default, dense.
TIMES_GZIP = {
    "templates-swde-sites": (6, 8),
    "templates-swde": (6, 8),
    "templates-helsingborg": (6, 8),
    "templates-docs": (2.3, 3),
}
HISTORY_TIMES_GZIP = 12
#: Of solid zstd and of solid xz.
DEFAULT_OF_ZSTD, DENSE_OF_XZ, HISTORY_OF_XZ = 1.25, 1.0, 1.15
#: Microseconds at the median, warm and cold.
READ_US = {"quire": (100, 2_000), "quire dense": (10_000, 100_000)}

Results = Mapping[str, Mapping[str, Measured]]


def goals(results: Results) -> list[Goal]:
    """Every promise about bytes and reading."""
    return [*_of_gzip(results), *_of_solid(results), *_reads(results)]


def _of_gzip(results: Results) -> Iterator[Goal]:
    for name, rows in results.items():
        gzip = rows["gzip -9"].stored
        default, dense = (gzip / rows[method].stored for method in ("quire", "quire dense"))
        if name in TIMES_GZIP:
            asked = TIMES_GZIP[name]
            yield at_least(f"{name}: factor smaller than gzip, default", default, asked[0])
            yield at_least(f"{name}: factor smaller than gzip, dense", dense, asked[1])
        if name in corpora.VERSIONS:
            for tier, times in (("default", default), ("dense", dense)):
                yield at_least(
                    f"{name}: factor smaller than gzip, {tier}", times, HISTORY_TIMES_GZIP
                )


def _of_solid(results: Results) -> Iterator[Goal]:
    for name, rows in results.items():
        default, dense = rows["quire"].stored, rows["quire dense"].stored
        xz, zstd = rows["solid xz -9"].stored, rows["solid zstd --long=31 -19"].stored
        if name in corpora.TEMPLATES:
            what = f"{name}: default size relative to solid zstd --long=31 -19"
            yield at_most(what, default / zstd, DEFAULT_OF_ZSTD)
            yield at_most(f"{name}: dense size relative to solid xz -9", dense / xz, DENSE_OF_XZ)
        else:
            what = f"{name}: {{}} size relative to solid xz -9, stretch goal"
            yield at_most(what.format("default"), default / xz, HISTORY_OF_XZ)
            yield at_most(what.format("dense"), dense / xz, HISTORY_OF_XZ)


def _reads(results: Results) -> Iterator[Goal]:
    """The slowest corpus decides."""
    for method, asked in READ_US.items():
        for is_cold, most in zip((False, True), asked, strict=True):
            worst = max(results, key=lambda name: results[name][method].read(cold=is_cold))
            rows = {name: results[name][method].read(cold=is_cold) for name in results}
            yield Goal(
                f"{method}: read one page, {'cold' if is_cold else 'warm'}, median",
                f"< {most / 1e3:g} ms",
                f"{rows[worst] / 1e3:.3f} ms at worst ({worst}), "
                f"{sum(value < most for value in rows.values())} of {len(rows)} corpora below",
                met=rows[worst] < most,
            )
