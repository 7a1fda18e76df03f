#!/usr/bin/env bash
# Tests deploy/sandbox against a real MariaDB, in folders of its own: start, status, env, a second
# start, a server killed with -9, two sandboxes at once, ports already in use, a start that fails,
# stop; the same in short for memcached and, where there are Java 17 and its jars, Cassandra; then
# once more as a user without rights, if it is run as root. Ends with 77 (skipped) when MariaDB is not
# installed.
set -uo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
deploy=${CAVALRY_DEPLOY_DIR:-$here/../../deploy}
PATH=$PATH:/usr/sbin
unset CAVALRY_SANDBOX_DIR CAVALRY_SANDBOX_DEADLINE "${!CAVALRY_MARIADB_@}" "${!CAVALRY_HANDLERSOCKET_@}" \
  "${!CAVALRY_MEMCACHED@}" "${!CAVALRY_CASSANDRA@}"
if ! command -v mariadbd >/dev/null; then
  echo "skipped: mariadbd is not installed ('deploy/setup test' installs it)"
  exit 77
fi

scratch=$(mktemp -d)
listener=
failures=0
clean_up() {
  if [[ -n $listener ]]; then kill "$listener" 2>/dev/null; fi
  for folder in "$scratch"/*/; do
    if [[ -e $folder/lock ]]; then "$deploy/sandbox" stop --dir "$folder" >/dev/null 2>&1; fi
  done
  rm -rf -- "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# expect WHAT COMMAND...: reports and counts a command that fails.
expect() {
  local what=$1
  shift
  if "$@"; then
    echo "ok: $what"
  else
    echo "FAILED: $what"
    failures=$((failures + 1))
  fi
}
# refute WHAT COMMAND...: the same for one that succeeds.
refute() {
  local what=$1
  shift
  expect "$what" not "$@"
}
not() { ! "$@"; }
sandbox() { "$deploy/sandbox" "$@"; }
# exports DIR: the variables of DIR's servers, in this shell.
exports() { eval "$(sandbox env --dir "$1")"; }
sql() {
  mariadb --no-defaults --protocol=tcp -h "$CAVALRY_MARIADB_HOST" -P "$CAVALRY_MARIADB_PORT" \
    -u "$CAVALRY_MARIADB_USER" -p"$CAVALRY_MARIADB_PASSWORD" -NBe "$1" "$CAVALRY_MARIADB_DATABASE"
}
root_sql() { mariadb --no-defaults -S "$CAVALRY_MARIADB_SOCKET" -u root -NBe "$1"; }
# handlersocket PORT SECRET: what the server answers to the secret.
handlersocket() {
  local answer=
  { printf 'A\t1\t%s\n' "$2" >&8 && read -t 5 -r answer <&8; } 8<>"/dev/tcp/127.0.0.1/$1" || return
  printf '%s' "$answer"
}
same() {
  [[ $1 == "$2" ]] || {
    echo "  got '$1', expected '$2'"
    return 1
  }
}
has() { [[ $1 == *"$2"* ]] || { echo "  '$2' is not in '$1'"; return 1; }; }

a=$scratch/a
b="$scratch/b with a space"

expect "--help explains" has "$(sandbox --help)" 'start    starts'
sandbox >/dev/null 2>&1
expect "no action is wrong usage" same $? 2
sandbox start nosuchserver --dir "$a" >/dev/null 2>&1
expect "an unknown server is wrong usage" same $? 2
refute "status of nothing fails" sandbox status --dir "$a"
refute "env of nothing fails" sandbox env --dir "$a"
expect "stop of nothing succeeds" sandbox stop --dir "$a"

start_twice_at_once() {
  sandbox start --dir "$a" &
  sandbox start --dir "$a" && wait $!
}
expect "two starts at once both succeed" start_twice_at_once
expect "status succeeds" sandbox status --dir "$a"
exports "$a"
pid=$CAVALRY_MARIADB_PID
expect "bench reads over TCP" same "$(sql 'SELECT CURRENT_USER()')" 'bench@%'
expect "bench writes" same "$(sql 'CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (7);
  SELECT id FROM t')" 7
expect "bench sees the server's counters" has "$(sql "SHOW GLOBAL STATUS LIKE 'Threads_running'")" \
  Threads_running
expect "bench can read the secret" same "$(sql 'SELECT @@handlersocket_plain_secret')" \
  "$CAVALRY_HANDLERSOCKET_SECRET"
expect "root needs no password on the socket" same "$(root_sql 'SELECT CURRENT_USER()')" root@localhost
refute "root may not come over TCP" mariadb --no-defaults --protocol=tcp \
  -h 127.0.0.1 -P "$CAVALRY_MARIADB_PORT" -u root -e 'SELECT 1'
expect "settings are the stated ones" same "$(sql 'SELECT @@innodb_flush_log_at_trx_commit,
  @@max_connections, @@innodb_buffer_pool_size, @@handlersocket_threads')" \
  $'2\t2000\t268435456\t'"$(nproc)"
expect "HandlerSocket accepts its secret for reading" same \
  "$(handlersocket "$CAVALRY_HANDLERSOCKET_PORT" "$CAVALRY_HANDLERSOCKET_SECRET")" $'0\t1'
expect "and for writing" same \
  "$(handlersocket "$CAVALRY_HANDLERSOCKET_WRITE_PORT" "$CAVALRY_HANDLERSOCKET_WRITE_SECRET")" $'0\t1'
expect "but no other" same "$(handlersocket "$CAVALRY_HANDLERSOCKET_PORT" wrong)" $'3\t1\tunauth'

expect "a second start reports the running server" has "$(sandbox start --dir "$a")" \
  "running already (pid $pid)"

expect "another sandbox runs beside it" sandbox start mariadb --dir "$b"
exports "$b"
expect "it is another server" test "$CAVALRY_MARIADB_PID" != "$pid"
expect "with tables of its own" same "$(sql 'SHOW TABLES')" ''
expect "stopping it" sandbox stop --dir "$b"
expect "leaves the first alone" has "$(sandbox status --dir "$a")" "(pid $pid)"
refute "and itself does not run" sandbox status --dir "$b"

kill -KILL "$pid"
while [[ -s /proc/$pid/cmdline ]] 2>/dev/null; do sleep 0.05; done
refute "a killed server does not run" sandbox status --dir "$a"
expect "after kill -9 it starts again" sandbox start --dir "$a"
exports "$a"
expect "with its data" same "$(sql 'SELECT id FROM t')" 7
expect "stop" sandbox stop --dir "$a"
refute "its process is gone" test -s "/proc/$CAVALRY_MARIADB_PID/cmdline"

# Somebody else takes one of its ports while it is stopped.
taken=$CAVALRY_HANDLERSOCKET_PORT
port=$CAVALRY_MARIADB_PORT
perl -MSocket -e '
  socket(my $s, PF_INET, SOCK_STREAM, 0) or die;
  setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1);
  bind($s, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) and listen($s, 1) or die "bind: $!\n";
  open(my $ready, ">", $ARGV[1]);
  sleep 120;' "$taken" "$scratch/listening" &
listener=$!
while [[ ! -e $scratch/listening ]] && kill -0 "$listener"; do sleep 0.05; done
expect "it starts although a port is taken" sandbox start --dir "$a"
exports "$a"
expect "on another port in its place" test "$CAVALRY_HANDLERSOCKET_PORT" != "$taken"
expect "and keeps the free one" same "$CAVALRY_MARIADB_PORT" "$port"
kill "$listener"
wait "$listener" 2>/dev/null
listener=
sandbox stop --dir "$a" >/dev/null

CAVALRY_SANDBOX_BUFFER_POOL=64M sandbox start --dir "$b"
exports "$b"
expect "the environment sets the buffer pool" same "$(sql 'SELECT @@innodb_buffer_pool_size')" 67108864
sandbox stop --dir "$b" >/dev/null

: >"$b/mariadb/data/ibdata1" # A damaged server must fail aloud, and soon.
output=$(sandbox start --dir "$b" 2>&1)
expect "a start that fails ends with 1" same $? 1
expect "shows the server's log" has "$output" '[ERROR]'
expect "and where it is" has "$output" "$b/mariadb/log"
refute "and leaves nothing running" sandbox status --dir "$b"

long=$scratch/$(printf 'x%.0s' {1..100})
output=$(sandbox start --dir "$long" 2>&1)
expect "a folder with too long a name is refused" has "$output" "name a shorter folder"

# memcached_says PORT: the first line of its answer to "version".
memcached_says() {
  local answer=
  { printf 'version\r\n' >&8 && read -t 5 -r answer <&8; } 8<>"/dev/tcp/127.0.0.1/$1" || return
  printf '%s' "${answer%% *}"
}
c=$scratch/c
expect "memcached starts, twice and on a Unix socket" sandbox start --dir "$c" \
  memcached memcached2 memcached3
exports "$c"
expect "memcached answers" same "$(memcached_says "$CAVALRY_MEMCACHED_PORT")" VERSION
expect "the second is another one" same "$(memcached_says "$CAVALRY_MEMCACHED2_PORT")" VERSION
expect "the third has its socket" test -S "$CAVALRY_MEMCACHED_SOCKET"
port=$CAVALRY_MEMCACHED_PORT
pid=$CAVALRY_MEMCACHED_PID
others=$CAVALRY_MEMCACHED2_PID
expect "restart" sandbox restart memcached --dir "$c"
exports "$c"
expect "is another process" test "$CAVALRY_MEMCACHED_PID" != "$pid"
expect "on the same port" same "$CAVALRY_MEMCACHED_PORT" "$port"
expect "and the others go on" same "$CAVALRY_MEMCACHED2_PID" "$others"
expect "stop all" sandbox stop --dir "$c"
refute "none is left" sandbox status --dir "$c"
sandbox start cassandra:2 --dir "$c" >/dev/null 2>&1
expect "a cluster of two is wrong usage" same $? 2

# A Maven that fails.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "no such artifact"\nexit 1\n' >"$scratch/bin/mvn"
chmod 755 "$scratch/bin/mvn"
output=$(PATH=$scratch/bin:$PATH XDG_CACHE_HOME=$scratch/cache sandbox start cassandra --dir "$c" 2>&1)
expect "Cassandra that cannot be fetched ends with 1" same $? 1
if [[ $output != *"no Java 17"* ]]; then
  expect "shows what Maven said" has "$output" "no such artifact"
  expect "and names it" has "$output" "Maven could not fetch it"
  expect "and leaves nothing" same "$(ls "$scratch/cache/cavalry")" ''
fi

if [[ $output != *"no Java 17"* && -e ${XDG_CACHE_HOME:-${HOME-}/.cache}/cavalry/cassandra-5.0.6/complete ]]; then
  expect "Cassandra starts" sandbox start cassandra --dir "$c"
  exports "$c"
  port=$CAVALRY_CASSANDRA_PORT
  kill -KILL "$CAVALRY_CASSANDRA_PID"
  while [[ -s /proc/$CAVALRY_CASSANDRA_PID/cmdline ]] 2>/dev/null; do sleep 0.05; done
  expect "after kill -9 it starts again" sandbox start cassandra --dir "$c"
  exports "$c"
  expect "on the same port" same "$CAVALRY_CASSANDRA_PORT" "$port"
  expect "stop" sandbox stop --dir "$c"
fi

if ((EUID == 0)) && [[ -z ${CAVALRY_DEPLOY_DIR-} ]]; then
  # The repository may lie where others cannot read.
  chmod 755 "$scratch"
  cp -r -- "$deploy" "$scratch/deploy"
  cp -- "$here/sandbox_test.sh" "$scratch"
  chmod -R a+rX "$scratch/deploy" "$scratch/sandbox_test.sh"
  echo "-- the same as nobody"
  expect "all of it as a user without rights" runuser -u nobody -- env -u HOME -u TMPDIR \
    CAVALRY_DEPLOY_DIR="$scratch/deploy" bash "$scratch/sandbox_test.sh"
fi

echo "$failures failures"
((failures == 0))
