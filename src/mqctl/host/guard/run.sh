# run NUMBER TOKEN BOOT NOT_AFTER LIMIT NAME SIZE SCRIPT ARGUMENT...   (input: SIZE bytes of text)
run() {
  number=$1 token=$2 until_boot=$3 until=$4 limit=$5 name=$6 size=$7 script=$8
  shift 8
  numbers "$number" "$until" "$limit" "$size"
  input=''
  # In memory, for it may hold secrets; whole, for half of it is another input.
  [ "$size" -eq 0 ] || input=$(head -c "$((size + 1))" && printf .)
  input=${input%.}
  [ "${#input}" -eq "$size" ] || refuse truncated
  stand
  enter
  grace=$((f_ttl / 100 + 1)) # a tenth of the TTL, at most 5 s: the lease's margin covers it
  [ "$grace" -le 500 ] || grace=500
  replace last "$boot $now" || unwritable
  export MQCTL_DIR="$dir" MQCTL_FENCE="$number"
  began=$now
  exec 7>&1
  ended=$({ if [ "$size" -eq 0 ]; then start "$@" </dev/null; else feed | start "$@"; fi; } 8>&1 >&7)
  clock
  case $ended in
    unwritable) unwritable ;;
    revoked | late) rm -f running && refuse "$ended" ;;
    "ended "*)
      outcome="exited ${ended#ended }"
      # Above 128 a shell means that a signal killed it, and that is no clean end.
      if [ "${ended#ended }" -le 128 ]; then rm -f running; else unclean; fi
      ;;
    *)
      outcome=killed
      [ $((now - began)) -lt "$limit" ] && [ "$now" -lt "$until" ] || outcome=timed-out
      ! read_marker || { finish && unclean; }
      ;;
  esac
  replace last "$boot $now"
  printf '\n@%s end\n' "$nonce" >&2
  say end "$outcome"
}

feed() {
  printf %s "$input"
} 7>&- 8>&- 9<&-

# The process that writes the marker becomes `timeout`, the leader of the command's process group, so
# the marker is complete before there is a command. Something is written first: if the client is gone,
# this ends here, by SIGPIPE.
start() {
  say begin || exit 0
  printf '\n@%s begin\n' "$nonce" >&2
  identify self
  replace running "$pid $start $number $token $boot $now $name" || { printf unwritable >&8 && exit 0; }
  ! revoked || { printf revoked >&8 && exit 0; }
  clock
  [ "$now" -lt "$until" ] && [ "$limit" -gt 0 ] || { printf late >&8 && exit 0; }
  [ "$limit" -le $((until - now)) ] || limit=$((until - now))
  in_seconds "$grace"
  patience=$seconds
  in_seconds "$limit"
  exec "$timeout" -k "$patience" "$seconds" sh -c "$inner" mqctl "$script" mqctl "$@" 7>&- 9<&9
}

# `timeout` does not wait for grandchildren that ignore TERM.
finish() {
  kill_at=$((now + grace))
  while group_lives "$m_pid" && [ "$now" -lt $((kill_at + 100)) ]; do
    [ "$now" -lt "$kill_at" ] || kill -KILL "-$m_pid" 2>/dev/null
    sleep 0.05
    clock
  done
}
