# look LIMIT SCRIPT ARGUMENT...: a read. No fence and no flock; the script has the standard input.
look() {
  cd "$dir" 2>/dev/null || cd /
  observe "$@"
}

observe() {
  limit=$1 script=$2
  shift 2
  export MQCTL_DIR="$dir" GIT_OPTIONAL_LOCKS=0
  say begin
  printf '\n@%s begin\n' "$nonce" >&2
  began=$now
  exec 7>&1
  # Whole seconds: a host that a doctor looks at may have another `timeout`, or none.
  if [ -n "$timeout" ]; then
    ended=$("$timeout" -k 2 $(((limit + 99) / 100)) sh -c "$inner" mqctl "$script" mqctl "$@" 8>&1 >&7 7>&-)
  else
    ended=$(sh -c "$inner" mqctl "$script" mqctl "$@" 8>&1 >&7 7>&-)
  fi
  clock
  outcome=killed
  [ $((now - began)) -lt "$limit" ] || outcome=timed-out
  case $ended in "ended "*) outcome="exited ${ended#ended }" ;; esac
  printf '\n@%s end\n' "$nonce" >&2
  say end "$outcome"
}
