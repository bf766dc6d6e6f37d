# A PostgreSQL and a Redis of our own in a temporary folder, gone when the script ends.
# Sets TEST_DATABASE_URL and TEST_REDIS_URL. Needs lib.sh and the environment in .venv.

start_services() {
  services_folder=$(mktemp -d)
  chmod 755 "$services_folder" # PostgreSQL's user must get through
  trap stop_services EXIT
  start_postgres
  start_redis
}

start_postgres() {
  local bin port as=()
  bin=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1)
  port=$(free_port)
  mkdir "$services_folder/pg"
  if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses to run as root
    chown postgres "$services_folder/pg"
    as=(setpriv --reuid postgres --regid postgres --clear-groups)
  fi
  if ! (cd "$services_folder" && "${as[@]}" "$bin/initdb" -D "$services_folder/pg/data" -U portal --auth trust \
    --encoding UTF8 --locale C.UTF-8) </dev/null >"$services_folder/initdb.log" 2>&1; then
    cat "$services_folder/initdb.log" >&2
    stop "PostgreSQL's folder could not be made"
  fi
  # Started from its folder, because its user may not read ours; without waiting for the disk, because all is thrown away.
  (cd "$services_folder" && exec "${as[@]}" "$bin/postgres" -D "$services_folder/pg/data" -p "$port" -h 127.0.0.1 \
    -k "$services_folder/pg" -c fsync=off -c full_page_writes=off -c synchronous_commit=off \
    -c max_connections=200) </dev/null >"$services_folder/postgres.log" 2>&1 &
  postgres_pid=$!
  wait_for "$postgres_pid" postgres.log "$bin/pg_isready" -q -h 127.0.0.1 -p "$port"
  "$bin/createdb" -h 127.0.0.1 -p "$port" -U portal portal
  export TEST_DATABASE_URL="postgresql://portal@127.0.0.1:$port/portal"
}

start_redis() {
  local port
  port=$(free_port)
  redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$services_folder" \
    </dev/null >"$services_folder/redis.log" 2>&1 &
  redis_pid=$!
  wait_for "$redis_pid" redis.log redis-cli -p "$port" ping
  export TEST_REDIS_URL="redis://127.0.0.1:$port"
}

stop_services() {
  trap - EXIT
  if [ -n "${redis_pid:-}" ]; then kill "$redis_pid" 2>/dev/null || true; fi
  if [ -n "${postgres_pid:-}" ]; then kill -INT "$postgres_pid" 2>/dev/null || true; fi
  wait ${redis_pid:-} ${postgres_pid:-} 2>/dev/null || true
  rm -rf "$services_folder"
}

free_port() {
  .venv/bin/python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# wait_for PID LOG COMMAND…: until the command succeeds; stops with the log's end where the process ends first.
wait_for() {
  local pid=$1 log=$services_folder/$2 attempt
  shift 2
  for attempt in $(seq 300); do
    if "$@" >/dev/null 2>&1; then return; fi
    if ! kill -0 "$pid" 2>/dev/null; then break; fi
    sleep 0.2
  done
  tail -n 20 "$log" >&2
  stop "did not start (attempt $attempt): $*"
}
