# Sourced by the scripts beside it: tools of strangers in an environment of their
# own, and a server over the bundled sample that lives as long as the script. `serve`
# starts more.
#
# A machine without Python can do without: one line says so. Where
# FIGDEX_REQUIRE_TOOLS is set, as in `.ci/run`, that is a failure.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

if ! python3 -c 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11)' 2>/dev/null; then
  echo "skipped: $(basename "$0") needs Python 3.11 or newer with its venv module"
  [ -z "${FIGDEX_REQUIRE_TOOLS:-}" ]
  exit
fi

# The versions of all tools are pinned; other ones make a new environment.
tools=$target/tools
if ! cmp -s "$here/requirements.txt" "$tools/requirements.txt"; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$tools/requirements.txt"
fi

# Both programs in one go, as every script here builds them: one set of dependencies.
cargo build --locked --manifest-path "$root/Cargo.toml" --bins

scratch=$(mktemp -d)
servers=()
stop() {
  for server in "${servers[@]}"; do
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap stop EXIT
cd "$scratch"
figdex=$target/debug/figdex

serve() { # serve NAME OPTION…: starts a server, whose address is `base` then
  local log=$1.log
  shift
  "$figdex" --listen 127.0.0.1:0 "$@" 2>"$log" &
  servers+=($!)
  base=
  for _ in $(seq 600); do
    base=$(grep -o 'http://127.0.0.1:[0-9]*' "$log" | head -1 || true)
    [ -z "$base" ] || return 0
    kill -0 "${servers[-1]}" || break
    sleep 0.1
  done
  cat "$log"
  return 1
}

# In an empty folder and without an index named, the server builds the sample's.
# The rates are lifted; they have tests of their own.
key=$("$figdex" keys add tools --keys keys.toml | grep -o '[^ ]*$')
serve server --keys keys.toml --no-limits
