#!/usr/bin/env bash
# Gates our own kernels against reports/baseline/own.json: gate.sh SEXTANT; with --update as a second word the baseline is made anew.
set -euo pipefail
sextant=$1 baseline=$(dirname "$0")/own.json
run=$(mktemp)
trap 'rm -f "$run"' EXIT
"$sextant" verify --kernel scalar --kernel simd/SSE4 --kernel simd/AVX2 --encoding llama-3.1-8b --encoding gpt-oss-20b \
  --encoding gpt-j-6b --encoding bloom-176b --encoding t5-small --encoding opus-mt-fr-en --encoding xlnet-base-cased --json "$run" >/dev/null
"$sextant" gate "$run" --baseline "$baseline" ${2:-}
