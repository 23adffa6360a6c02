#!/usr/bin/env bash
# Installs a build into a scratch prefix and uses it from outside: outside_test.sh CMAKE BUILD EXAMPLE COMPILER.
set -euo pipefail
cmake=$1 build=$2 example=$3 compiler=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
fail() {
  echo "outside: $*" >&2
  exit 1
}

"$cmake" --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/sextant" list laws >/dev/null || fail "the installed command does not run"
(cd "$prefix/include" && grep -rhoE '#include "sextant/[^"]+' sextant | cut -d'"' -f2 | sort -u) |
  while read -r header; do
    [ -f "$prefix/include/$header" ] || fail "an installed header includes $header, which is not installed"
  done
package=$(dirname "$(find "$prefix" -name sextantConfig.cmake)")
! grep -rqe "$build" "$package" || fail "the package names the build folder"
! grep -rqe -Werror "$package" || fail "warning flags reach the users of the package"

use() { # use FOLDER: builds the project there against the installed package
  "$cmake" -S "$1" -B "$1/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" >"$1/log" 2>&1 &&
    "$cmake" --build "$1/build" >>"$1/log" 2>&1 || { cat "$1/log" >&2; fail "cannot build $1"; }
}

cp -r "$example" "$scratch/good"
cp -r "$example" "$scratch/faulty"
sed -i 's/position_at(call.positions, b, s)/& + 1/' "$scratch/faulty/my_kernel_test.cpp"
! cmp -s "$scratch/good/my_kernel_test.cpp" "$scratch/faulty/my_kernel_test.cpp" || fail "no fault was planted"
use "$scratch/good"
use "$scratch/faulty"

test=build/my_kernel_test
"$scratch/good/$test" >"$scratch/good/out" || { cat "$scratch/good/out"; fail "the good kernel breaks a law"; }
grep -q 'OK.*rope_elementwise/mine.rotate' "$scratch/good/out" || fail "rope_elementwise was not tried"
! "$scratch/faulty/$test" >"$scratch/faulty/out" || fail "the faulty kernel keeps every law"
grep -q 'FAILED.*rope_elementwise/mine.rotate' "$scratch/faulty/out" || fail "rope_elementwise does not see the fault"

replay=$(grep -oE "law=rope_elementwise [^']+" "$scratch/faulty/out" | head -1)
[ -n "$replay" ] || fail "the failure has no replay"
! SEXTANT_REPLAY=$replay "$scratch/faulty/$test" >"$scratch/faulty/replayed" || fail "the replay does not fail again"
[ "$(grep -c 'FAILED.*mine' "$scratch/faulty/replayed")" -eq 2 ] || fail "the replay runs more than one test"
SEXTANT_REPLAY=$replay "$scratch/good/$test" >/dev/null || fail "the replay fails on the good kernel"
echo "outside: installed, found, built; $(grep -c ' OK ' "$scratch/good/out") tests passed; the fault was caught: $replay"
