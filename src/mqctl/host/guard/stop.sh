# stop NUMBER TOKEN GRACE VICTIM: VICTIM is the nonce of the command that shall not go on, nor start.
# Needs no flock, and no lock: whoever has the token of the running command may end it.
stop() {
  number=$1 token=$2 grace=$3 victim=$4
  numbers "$number" "$grace"
  is_word "$victim" || refuse broken "not a nonce"
  cd "$dir" 2>/dev/null || refuse idle
  { mkdir -p .trash && echo >".trash/stop.$number.$victim"; } 2>/dev/null
  read_marker && [ "$m_number" = "$number" ] && [ "$m_token" = "$token" ] && [ "$m_boot" = "$boot" ] || refuse idle
  identify "$m_pid" && [ "$start" = "$m_start" ] || refuse idle
  clock
  kill_at=$((now + grace)) told=''
  # Between its marker and the start of `timeout` the command is a process, but not yet a group.
  while group_lives "$m_pid" || { [ -z "$told" ] && kill -0 "$m_pid" 2>/dev/null; }; do
    [ -n "$told" ] || ! kill -TERM "-$m_pid" 2>/dev/null || told=yes
    clock
    [ "$now" -lt "$kill_at" ] || kill -KILL "-$m_pid" 2>/dev/null
    [ "$now" -lt $((kill_at + 100)) ] || break
    sleep 0.05
  done
  refuse stopped
}
