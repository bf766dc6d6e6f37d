# Shared by the scripts beside it: a Python environment in .venv, and Debian packages where they are missing.

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

say() { printf '\033[1m%s\033[0m\n' "$*"; }
stop() {
  printf '%s\n' "$*" >&2
  exit 2
}

# need COMMAND PACKAGE…: the command exists afterwards. COMMAND may be a pattern of a path.
need() {
  local pattern=$1
  shift
  if ! is_there "$pattern"; then debian "$@"; fi
  is_there "$pattern" || stop "$pattern is still missing after installing $*"
}

is_there() {
  command -v "$1" >/dev/null 2>&1 || compgen -G "$1" >/dev/null
}

# debian PACKAGE…: as root the packages are installed, otherwise we say which ones are missing.
debian() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    stop "Please install: $*   (on Debian: sudo apt-get install $*)"
  fi
  say "Installing $*"
  apt-get update -qq </dev/null >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" </dev/null >/dev/null
}

# find_python: prints the first interpreter that is new enough; $PYTHON goes before all others.
find_python() {
  local candidate
  for candidate in ${PYTHON:-} python3.14 python3.13 python3.12 python3.11 python3; do
    if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  return 1
}

# environment FILE: .venv holds what requirements/FILE says; nothing is done where it does already.
environment() {
  local file=$1 python
  if ! .venv/bin/pip --version >/dev/null 2>&1; then
    if ! python=$(find_python); then
      debian python3 python3-venv
      python=$(find_python) || stop "Python 3.11 to 3.14 is needed; this system has none to install"
    fi
    "$python" -c 'import ensurepip' 2>/dev/null || debian python3-venv
    rm -rf .venv
    "$python" -m venv .venv
  fi
  if is_installed "$file"; then return; fi
  # An environment for the tests serves the portal too.
  if [ "$file" = base.txt ] && is_installed dev.txt; then return; fi
  say "Installing Python packages (requirements/$file); this takes a minute or two, once"
  rm -f .venv/.installed
  .venv/bin/pip install -qq --require-hashes -r "requirements/$file" </dev/null
  sha256sum "requirements/$file" >.venv/.installed
}

is_installed() {
  [ -f .venv/.installed ] && [ "$(sha256sum "requirements/$1")" = "$(cat .venv/.installed)" ]
}
