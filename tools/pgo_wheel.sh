#!/usr/bin/env bash
# Build a wheel with a profile of itself (PGO) into dist/. Run by `make pgo`.
#
# Builds the package with counters, lets it work on generated pages, and builds it again with the
# counts. The profile of another binary makes things slower, so the wheel itself is trained.
# Everything is made in .cache/pgo; the usual build in target/ stays as it is.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
work=$PWD/.cache/pgo
host=$(rustc -vV | sed -n 's/^host: //p')
tools=$(rustc --print sysroot)/lib/rustlib/$host/bin
profdata=$tools/llvm-profdata
# The version that belongs to this rustc: others cannot read its profiles.
if [[ ! -x $profdata ]]; then
  echo "error: $profdata is missing; expected the LLVM tools of this Rust" >&2
  echo "hint: rustup component add llvm-tools" >&2
  exit 2
fi
if ! command -v maturin >/dev/null; then
  echo "error: maturin is missing; run \`make pgo\`, which installs it" >&2
  exit 2
fi

rm -rf "$work/counts" "$work/trained" "$work/package"
mkdir -p "$work/counts" dist
# With a target, RUSTFLAGS hold for the package and not for build scripts and macros.
build() { # FLAGS OUT
  RUSTFLAGS="${RUSTFLAGS:-} $1" CARGO_TARGET_DIR=$work/target \
    maturin build --release --locked --interpreter "$python" --target "$host" --out "$2"
}

build "-Cprofile-generate=$work/counts" "$work/trained"
"$python" -m zipfile -e "$work"/trained/*.whl "$work/package"
PYTHONPATH=$work/package "$python" tools/pgo_training.py
"$profdata" merge -o "$work/merged.profdata" "$work/counts"
build "-Cprofile-use=$work/merged.profdata" dist
