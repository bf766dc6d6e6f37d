# Shared by the scripts beside it: a Python environment in .venv, and Debian packages where they are missing.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

say() { printf '\033[1m%s\033[0m\n' "$*"; }
stop() { printf '%s\n' "$*" >&2; exit 2; }

# need COMMAND PACKAGE…: make sure that a command exists; as root it is installed, else we say what to install.
need() {
  local command=$1
  shift
  command -v "$command" >/dev/null 2>&1 || [ -x "$command" ] && return 0
  debian "$@"
}

debian() {
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || stop "Please install: $*   (sudo apt-get install $*)"
  say "Installing $*"
  apt-get update -qq >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3.14 python3.13 python3.12 python3.11 python3; do
    if command -v "$candidate" >/dev/null 2>&1 &&
      "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  stop "Python 3.11 to 3.14 is needed   (Debian: apt-get install python3 python3-venv)"
}

# environment FILE: .venv holds exactly what requirements/FILE says; nothing is done where it does already.
environment() {
  local wanted stamp python
  wanted="requirements/$1"
  stamp=".venv/.installed"
  if [ ! -x .venv/bin/python ]; then
    python=$(find_python)
    "$python" -c 'import ensurepip' 2>/dev/null || debian python3-venv
    "$python" -m venv .venv
  fi
  if ! sha256sum "$wanted" | cmp -s - "$stamp"; then
    # An environment for the tests serves the portal too.
    [ "$1" = base.txt ] && sha256sum requirements/dev.txt | cmp -s - "$stamp" && return
    say "Installing Python packages ($wanted)"
    .venv/bin/pip install --quiet --require-hashes -r "$wanted"
    sha256sum "$wanted" >"$stamp"
  fi
}
