# raise NUMBER TOKEN AUTHORITY TTL-MS open|closed LIMIT [SCRIPT ARGUMENT...]
#
# It has no NOT_AFTER, for before the first one nobody knows this host's uptime. Delivered late it does no
# harm: it runs nothing but reads, never lowers the number, never reopens one that was closed; and what it
# may still store is a number whose owner can start nothing any more, since *run* and *put* do have one.
raise() {
  number=$1 token=$2 authority=$3 ttl=$4 state=$5 limit=$6
  shift 6
  numbers "$number" "$ttl" "$limit"
  is_word "$token" && is_word "$authority" || refuse broken "not a token"
  equipped
  local_disk
  tries=0
  until [ -d "$dir" ]; do
    [ "$tries" -lt 5 ] || refuse broken "cannot create $dir"
    tries=$((tries + 1))
    create
  done
  stand
  # Another raise or an upload has the flock for a moment only, and no marker.
  lock 0 || { [ ! -e running ] && lock 200; } || busy
  load_fence
  same_place
  mkdir -p .trash 2>/dev/null || unwritable
  clock
  settled || refuse settling "$left"
  quiet || refuse held "$left"
  [ "$f_number" -le "$number" ] || refuse stale "$f_number"
  if [ "$f_number" -eq "$number" ]; then
    [ "$f_token" = "$token" ] || refuse stale "$f_number"
    [ "$f_state" = open ] || [ "$state" = closed ] || refuse closed
  fi
  store "$state"
  replace last "$boot $now" || unwritable
  clean
  say raised
  exec 9<&-
  [ "$#" -eq 0 ] || observe "$limit" "$@"
}

equipped() {
  for program in tar find stat sync; do
    find_tool "$program" || refuse unsupported "$program is not on PATH; install it"
  done
  find_tool timeout && case $("$tool" --version 2>/dev/null) in *"GNU coreutils"*) ;; *) false ;; esac ||
    refuse unsupported "GNU timeout is not on PATH; install the package coreutils"
  find_tool flock && case $("$tool" --version 2>/dev/null) in *util-linux*) ;; *) false ;; esac ||
    refuse unsupported "the flock of util-linux is not on PATH; install the package util-linux"
}

# A flock and a boot id mean something on one machine only.
local_disk() {
  mkdir -p "$root/$fleet" 2>/dev/null || refuse broken "cannot create $root/$fleet"
  kind=$(stat -f -c %T "$root/$fleet" 2>/dev/null)
  case $kind in
    nfs* | smb* | cifs | afs | k-afs | ceph | coda | fuse* | 9p | v9fs | lustre | gpfs | gfs* | ocfs2 | panfs | acfs | \
      vboxsf | prl_fs | vmhgfs) refuse unsupported "$root is on a network filesystem ($kind); choose another root" ;;
  esac
}

# Built beside and renamed into place with the fence inside: there is never a directory without one.
# Who loses that race throws his away and finds the winner's.
create() {
  made=$root/$fleet/.new.$marquee.$nonce
  mkdir "$made" "$made/.trash" "$made/projects" "$made/tombstones" 2>/dev/null || return 0
  clock
  if printf 'mqctl-fence 1 %s %s %s %s %s %s .\n' "$number" "$token" "$authority" "$ttl" "$state" \
    "$(stat -c %i "$made")" >"$made/fence" && printf '%s\n' "$boot $now" >"$made/last" &&
    sync "$made/fence" "$made/last" && mv -T "$made" "$dir"; then
    sync "$root/$fleet"
  else
    rm -rf "$made"
  fi 2>/dev/null
}

# Another Redis' fence is respected until its owner must have ended: one TTL without a guarded command.
quiet() {
  [ "$f_authority" != "$authority" ] && [ "$f_state" = open ] || return 0
  [ -r last ] && read -r l_boot l_now <last && is_word "$l_boot" && is_number "$l_now" || {
    l_boot=$boot l_now=$now
    replace last "$boot $now" || unwritable
  }
  [ "$l_boot" = "$boot" ] || return 0
  left=$(((l_now + f_ttl / 10 - now + 99) / 100))
  [ "$left" -le 0 ]
}

# What older fences left: uploads, what they replaced, credentials, stop notes.
clean() {
  set -- "$root/$fleet/.new.$marquee".*
  for leftover in .trash/in.* .trash/cred.* .trash/stop.*; do
    owner=${leftover#.trash/*.}
    [ "${owner%%.*}" = "$number" ] || set -- "$@" "$leftover"
  done
  rm -rf "$@"
}
