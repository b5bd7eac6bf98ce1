# Sourced by the scripts in this folder. It makes a Python environment with third-party tools, and
# starts a server over the bundled sample that runs as long as the script. `serve` starts more
# servers.
#
# Without Python the script prints one line and is skipped. If FIGDEX_REQUIRE_TOOLS is set, as in
# `.ci/run`, that is a failure.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}

if ! python3 -c 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11)' 2>/dev/null; then
  echo "skipped: $(basename "$0") needs Python 3.11 or newer with its venv module"
  [ -z "${FIGDEX_REQUIRE_TOOLS:-}" ]
  exit
fi

# The versions of all tools are pinned. Changed versions create a new environment.
tools=$target/tools
if ! cmp -s "$here/requirements.txt" "$tools/requirements.txt"; then
  rm -rf "$tools"
  python3 -m venv "$tools"
  "$tools/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  cp "$here/requirements.txt" "$tools/requirements.txt"
fi

# With the examples, as in every script here: their dependencies are those of the tests, so that one
# build of all crates serves both. A script that needs a feature of cargo sets `all_features`.
cargo build --locked --manifest-path "$root/Cargo.toml" --bins --examples ${all_features:+--all-features}

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

serve() { # serve NAME OPTION…: starts a server and sets `base` to its address
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

# In an empty folder, without --index, the server builds the sample. The rates are lifted here;
# other tests cover them.
key=$("$figdex" keys add tools --keys keys.toml | grep -o '[^ ]*$')
serve server --keys keys.toml --no-limits
