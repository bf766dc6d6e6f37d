# A PostgreSQL and a Redis of our own in a temporary folder, gone when the script ends.
# Sets TEST_DATABASE_URL and TEST_REDIS_URL.

start_services() {
  local bin
  bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
  services_folder=$(mktemp -d)
  chmod 755 "$services_folder"
  trap stop_services EXIT

  local port as=()
  port=$(free_port)
  mkdir "$services_folder/pg"
  if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses to run as root
    chown postgres "$services_folder/pg"
    as=(setpriv --reuid postgres --regid postgres --clear-groups)
  fi
  (cd "$services_folder" && "${as[@]}" "$bin/initdb" -D "$services_folder/pg/data" -U portal --auth trust \
    --encoding UTF8 --locale C.UTF-8 >"$services_folder/initdb.log" 2>&1) ||
    { cat "$services_folder/initdb.log" >&2; stop "initdb failed"; }
  (cd "$services_folder" && exec "${as[@]}" "$bin/postgres" -D "$services_folder/pg/data" -p "$port" -h 127.0.0.1 \
    -k "$services_folder/pg" -c fsync=off -c full_page_writes=off -c synchronous_commit=off \
    -c max_connections=200) >"$services_folder/postgres.log" 2>&1 &
  postgres_pid=$!
  wait_for "$bin/pg_isready" -q -h 127.0.0.1 -p "$port"
  "$bin/createdb" -h 127.0.0.1 -p "$port" -U portal portal
  export TEST_DATABASE_URL="postgresql://portal@127.0.0.1:$port/portal"

  port=$(free_port)
  redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$services_folder" \
    >"$services_folder/redis.log" 2>&1 &
  redis_pid=$!
  wait_for redis-cli -p "$port" ping
  export TEST_REDIS_URL="redis://127.0.0.1:$port"
}

stop_services() {
  [ -n "${redis_pid:-}" ] && kill "$redis_pid" 2>/dev/null
  [ -n "${postgres_pid:-}" ] && kill -INT "$postgres_pid" 2>/dev/null
  wait 2>/dev/null
  rm -rf "${services_folder:-}"
}

free_port() {
  .venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

wait_for() {
  local attempt
  for attempt in $(seq 150); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.2
  done
  stop "did not start: $*   (see $services_folder)"
}
