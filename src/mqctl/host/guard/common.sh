# mqctl's guard: the host-side fence of one Marquee. Its text travels with each command:
#
#   sh -c TEXT mqctl NONCE VERB ROOT FLEET MARQUEE ARGUMENT...
#
# TEXT is this file, the files of the verb, and `main "$@"`. POSIX sh (dash, bash, busybox ash), GNU
# timeout, util-linux flock. Every answer is a line
#
#   @NONCE BOOT-ID UPTIME WORD ARGUMENT...     UPTIME in hundredths of a second, as all times here
#
# and never an exit status. A command's own output stands between `begin` and `end`, on both streams.
#
# One exclusive flock, on the directory ROOT/FLEET/MARQUEE itself, is held from the check of the fence to
# the end of the command, and inherited by it: check and command are one critical section. Inside are
#
#   fence       mqctl-fence FORMAT NUMBER TOKEN AUTHORITY TTL-MS open|closed INODE .
#   last        BOOT-ID UPTIME                             of the last guarded command
#   running     PID START NUMBER TOKEN BOOT-ID BEGAN NAME  removed by a clean end only
#   settling    BOOT-ID UNTIL                              the daemon may still do what it was asked
#   stop-grace  SECONDS                                    the largest stop grace of what runs here, else 10

set -u
umask 077
export LC_ALL=C

main() {
  nonce=$1 verb=$2 root=$3 fleet=$4 marquee=$5
  shift 5
  dir=$root/$fleet/$marquee boot=unknown now=0
  [ -r /proc/uptime ] && read -r boot </proc/sys/kernel/random/boot_id && is_word "$boot" || {
    printf '\n@%s unknown 0 unsupported /proc is not there; mqctl drives Linux hosts\n' "$nonce"
    exit 0
  }
  case $root in /*) ;; *) refuse broken "the root is not an absolute path: $root" ;; esac
  find_tool timeout
  timeout=$tool
  find_tool flock
  flock=$tool
  "$verb" "$@"
}

# ------------------------------------------------------------------ answers, numbers, files

# Sets $now. Uptime counts suspend, and never jumps as a wall clock does.
clock() {
  read -r now _ </proc/uptime
  now=${now%.*}${now#*.}
  while :; do case $now in 0?*) now=${now#0} ;; *) break ;; esac; done
}

say() {
  clock
  printf '\n@%s %s %s %s\n' "$nonce" "$boot" "$now" "$*"
}

refuse() {
  say "$@"
  exit 0
}

unwritable() {
  refuse broken "cannot write in $dir: disk full, read-only, or not ours"
}

# A decimal number that every shell's 64-bit arithmetic takes as such: no octal, no overflow.
is_number() {
  case $1 in '' | *[!0-9]* | 0?*) return 1 ;; esac
  [ "${#1}" -le 18 ]
}

is_word() {
  case $1 in '' | *[!0-9A-Za-z-]*) return 1 ;; esac
}

numbers() {
  for n in "$@"; do is_number "$n" || refuse broken "not a number: $n"; done
}

# Sets $seconds: hundredths as `timeout` and `flock` take them.
in_seconds() {
  seconds=$(($1 / 100)).$(($1 / 10 % 10))$(($1 % 10))
}

# replace FILE TEXT [durably]: by rename, so that nobody ever reads half of it.
replace() {
  fresh=.trash/in.$number.$nonce.new
  { printf '%s\n' "$2" >"$fresh"; } 2>/dev/null || return 1
  [ -z "${3-}" ] || sync "$fresh" || return 1
  mv -f "$fresh" "$1" 2>/dev/null || return 1
  [ -z "${3-}" ] || sync .
}

# Sets $tool to the path of a program. A busybox sh would otherwise take its own applet of that name.
find_tool() {
  tool=
  IFS=:
  for place in $PATH; do
    [ ! -x "$place/$1" ] || { tool=$place/$1 && break; }
  done
  unset IFS
  [ -n "$tool" ]
}

# ------------------------------------------------------------------ the fence and the flock

# Sets f_number, f_token, f_authority, f_ttl, f_state, f_inode. Never guesses.
load_fence() {
  [ -f fence ] && [ -r fence ] || refuse broken "$dir/fence is missing or unreadable"
  read -r f_magic f_format f_number f_token f_authority f_ttl f_state f_inode f_end <fence &&
    [ "$f_magic" = mqctl-fence ] && is_number "$f_format" || refuse broken "$dir/fence is damaged"
  [ "$f_format" -le 1 ] || refuse newer "$f_format"
  is_number "$f_number" && is_word "$f_token" && is_word "$f_authority" && is_number "$f_ttl" &&
    is_number "$f_inode" && [ "$f_end" = . ] || refuse broken "$dir/fence is damaged"
  case $f_state in open | closed) ;; *) refuse broken "$dir/fence is damaged" ;; esac
}

# store open|closed: the fence, on the disk before anybody hears of it.
store() {
  text="mqctl-fence 1 $number $token $authority $ttl $1 $f_inode ."
  read -r stored <fence
  [ "$stored" = "$text" ] || replace fence "$text" durably || unwritable
}

# The directory we stand in is the one of that name, and the one its fence was made for.
same_place() {
  # shellcheck disable=SC2046 # two words are wanted
  set -- $(stat -c '%d:%i' . "$dir" 2>/dev/null)
  [ "$#" -eq 2 ] && [ "$1" = "$2" ] && [ "${1#*:}" = "$f_inode" ] ||
    refuse broken "$dir is not the directory that its fence was made for"
}

stand() {
  [ -n "$timeout" ] && [ -n "$flock" ] || refuse unsupported "GNU timeout and the flock of util-linux are required"
  cd "$dir" 2>/dev/null && [ -r . ] || refuse broken "$dir is missing or unreadable"
  exec 9<.
}

# lock HUNDREDTHS: take the flock, waiting that long at most.
lock() {
  if [ "$1" -gt 0 ]; then in_seconds "$1" && "$flock" -w "$seconds" 9; else "$flock" -n 9; fi
  locked=$?
  [ "$locked" -le 1 ] || refuse broken "flock fails on $dir"
  return "$locked"
}

ours() {
  [ "$f_number" -eq "$number" ] && [ "$f_token" = "$token" ] || refuse stale "$f_number"
  [ "$f_state" = open ] || refuse closed
}

in_time() {
  clock
  [ "$boot" = "$until_boot" ] && [ "$now" -lt "$until" ] || refuse late
}

# *stop* leaves this note, for the command that it stops may still be on its way.
revoked() {
  [ -e ".trash/stop.$number.$nonce" ]
}

# From here to the end of this process nobody else changes this Marquee.
enter() {
  in_time
  lock $((until - now)) || refuse late
  load_fence
  same_place
  ours
  in_time
  mkdir -p .trash 2>/dev/null || unwritable
  ! revoked || refuse revoked
  settled || refuse settling "$left"
}

# ------------------------------------------------------------------ the running command, and how it ended

read_marker() {
  m_pid=0 m_start=0 m_number=0 m_token=- m_boot=- m_began=0 m_name=unknown
  [ -r running ] && read -r m_pid m_start m_number m_token m_boot m_began m_name <running &&
    is_number "$m_pid" && is_number "$m_start" && is_number "$m_began" && [ "$m_pid" -gt 1 ]
}

# The script's own status, told apart from what `timeout` would say: 124 or 137 may be either's.
# shellcheck disable=SC2016 # expanded by the inner shell
inner='sh -c "$@" 8>&-; printf "ended %s" "$?" >&8'

# identify PID|self: sets $pid and $start. `self` is this subshell, where `$$` would be its parent.
identify() {
  { read -r process <"/proc/$1/stat"; } 2>/dev/null || return 1
  pid=${process%% *}
  # shellcheck disable=SC2086 # the fields after the name, which may hold blanks
  set -- ${process##*) }
  [ "$1" != Z ] || return 1
  shift 19
  start=$1
}

# Whether anything of process group $1 still lives. What is dead but not yet reaped does not.
group_lives() {
  kill -0 "-$1" 2>/dev/null || return 1
  for member in /proc/[0-9]*/stat; do
    { read -r process <"$member"; } 2>/dev/null || continue
    # shellcheck disable=SC2086 # state, parent and group are wanted
    set -- "$1" ${process##*) }
    [ "$4" != "$1" ] || [ "$2" = Z ] || return 0
  done
  return 1
}

# The daemon goes on after its client was killed: it is given its largest stop grace and 5 s.
unclean() {
  period=10
  [ ! -r stop-grace ] || read -r period <stop-grace || :
  is_number "$period" && [ "$period" -le 55 ] || period=55
  replace settling "$boot $((now + (period + 5) * 100))" && rm -f running
}

# Whether nothing of an earlier command can go on; else sets $left, in seconds. A reboot settles all.
settled() {
  if [ -e running ]; then
    if read_marker && [ "$m_boot" != "$boot" ]; then rm -f running; else unclean || unwritable; fi
  fi
  [ -e settling ] || return 0
  s_boot='' s_until=''
  read -r s_boot s_until <settling || :
  if [ "$s_boot" = "$boot" ] && is_number "$s_until" && [ "$now" -lt "$s_until" ]; then
    left=$(((s_until - now + 99) / 100))
    [ "$left" -gt 60 ] || return 1
  fi
  rm -f settling
}

# Somebody has the flock. Without a marker it is a process that a clean command left behind.
busy() {
  clock
  read_marker && [ "$m_boot" = "$boot" ] || m_pid=0 m_began=$now m_name=unknown
  refuse busy "$m_pid" "$(((now - m_began) / 100))" "$m_name"
}
