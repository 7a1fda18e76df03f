# shellcheck shell=bash
# What the project's scripts share; sourced, never run. Before sourcing, a script sets `me`, the
# name it goes by in messages.
: "${me:?}"

# say TEXT...: one line of progress on standard output.
say() { printf '%s: %s\n' "$me" "$*"; }

# die TEXT...: says on standard error what went wrong, and ends the script with status 1.
die() {
  printf '%s: %s\n' "$me" "$*" >&2
  exit 1
}

# usage_error TEXT...: the same for wrong usage, with status 2.
usage_error() {
  printf "%s: %s; see '%s --help'\n" "$me" "$*" "$me" >&2
  exit 2
}

# print_help FILE: prints FILE's first block of comments, which is its help text.
print_help() { awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$1"; }

# timed [--quiet] NAME COMMAND...: runs the command, then says how long it took (unless quiet), and
# adds that line to the file that CAVALRY_DURATIONS names, if any. Returns the command's status.
timed() {
  local quiet=0
  if [[ $1 == --quiet ]]; then
    quiet=1
    shift
  fi
  local name=$1 begin=$EPOCHREALTIME status=0 took
  shift
  "$@" || status=$?
  took=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f s", b - a }')
  ((status == 0)) || took+=" (ended with status $status)"
  ((quiet)) || say "$name: $took"
  printf '%-16s %s\n' "$name" "$took" >>"${CAVALRY_DURATIONS:-/dev/null}"
  return "$status"
}

# configure PRESET DIR [CMAKE OPTION...]: configures DIR unless that is done already (ninja itself
# sees to changes afterwards). CMake's words are shown only when it fails.
configure() {
  local preset=$1 dir=$2
  shift 2
  if [[ -f $dir/build.ninja ]]; then return 0; fi
  mkdir -p "$dir"
  if ! cmake --preset "$preset" -B "$dir" "$@" >"$dir/configure.log" 2>&1; then
    cat "$dir/configure.log" >&2
    printf '%s: cmake could not configure %s (the lines above say why)\n' "$me" "$dir" >&2
    return 1
  fi
}

# build DIR [TARGET...]: builds with one job a core. Progress is ninja's own status line on a
# terminal; elsewhere one line at each tenth of the work. Compilers' messages always pass.
build() {
  local dir=$1 status=0
  shift
  export NINJA_STATUS='[%f/%t, %e s] '
  if [[ -t 1 ]]; then
    (cd -- "$dir" && ninja -j"$(nproc)" "$@") || status=$?
  else
    (cd -- "$dir" && ninja -j"$(nproc)" "$@") | compact_progress || status=$?
  fi
  if ((status != 0)); then
    printf '%s: the build in %s failed (the lines above say why)\n' "$me" "$dir" >&2
  fi
  return "$status"
}

# Lets through one of ninja's status lines at each tenth of the work, and whatever is not one.
# (In perl, here and elsewhere, where lines must pass at once: Debian's awk waits for more of them.)
compact_progress() {
  perl -ne '
    BEGIN { $| = 1; $last = -1 }
    if (m{^\[(\d+)/(\d+)}) {
      my $tenth = int(10 * $1 / $2);
      next if $tenth == $last;
      $last = $tenth;
    }
    print'
}
