#!/usr/bin/env bash
# Install the Debian packages of debian-packages.txt whose command is missing.
# Does nothing without root or apt-get.
set -euo pipefail

list=$(dirname "$0")/debian-packages.txt
missing=()
while read -r package command; do
  command -v "$command" >/dev/null || missing+=("$package")
done < <(grep -vE '^(#|$)' "$list" || true)

[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "not installed, tests that need these packages are skipped: ${missing[*]}" >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq --no-install-recommends "${missing[@]}"
