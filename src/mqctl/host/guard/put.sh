# put NUMBER TOKEN BOOT NOT_AFTER SIZE TARGET...   (input: a tar of SIZE bytes)
# The tar's entry I, a file or a directory, replaces the Ith TARGET, a path inside this directory.
put() {
  number=$1 token=$2 until_boot=$3 until=$4 size=$5
  shift 5
  numbers "$number" "$until" "$size"
  stand
  load_fence
  ours # asked again under the flock; here it only saves the trouble
  in=.trash/in.$number.$nonce
  trap 'rm -rf "$in"' EXIT
  mkdir -p .trash 2>/dev/null && mkdir "$in" "$in/new" "$in/old" 2>/dev/null || unwritable
  receive "$#"
  enter
  for target in "$@"; do proper "$target" || refuse broken "not a place for an upload: $target"; done
  index=0
  for target in "$@"; do
    swap "$in/new/$index" "$target" || refuse broken "cannot write $dir/$target; a part of the upload may be in place"
    index=$((index + 1))
  done
  replace last "$boot $now"
  exec 9<&-
  refuse stored
}

# Only files and directories, none above or beside: asked of the list first, and of the result again.
receive() {
  cat >"$in/tar" 2>/dev/null || unwritable
  [ "$(stat -c %s "$in/tar")" -eq "$size" ] || refuse truncated
  names=$(tar -tf "$in/tar" 2>/dev/null) && kinds=$(tar -tvf "$in/tar" 2>/dev/null) || refuse broken "not a tar"
  ! printf '%s\n' "$names" | grep -Eq '^/|(^|/)\.\.(/|$)' || refuse broken "the upload leaves its place"
  ! printf '%s\n' "$kinds" | grep -q '^[^d-]' || refuse broken "the upload has more than files and directories"
  tar -xopf "$in/tar" -C "$in/new" 2>/dev/null || unwritable
  [ -z "$(find "$in/new" -mindepth 1 ! -type d \( ! -type f -o -links +1 \))" ] ||
    refuse broken "the upload has more than files and directories"
  index=0
  while [ "$index" -lt "$1" ]; do
    [ -e "$in/new/$index" ] || refuse broken "the upload lacks its entry $index"
    index=$((index + 1))
  done
  rm -f "$in/tar"
  find "$in/new" -type f -exec sync {} + || unwritable
}

# Inside this directory, none of the guard's own files, and through no symbolic link.
proper() {
  case /$1/ in *//* | */./* | */../* | /.trash/* | /fence/ | /last/ | /running/ | /settling/) return 1 ;; esac
  part=$1
  while case $part in */*) ;; *) false ;; esac do
    part=${part%/*}
    [ ! -L "$part" ] || return 1
  done
}

# swap NEW TARGET: a file over a file is one rename; a directory cannot be renamed over another, so
# where one is in play the old thing is moved away first.
swap() {
  case $2 in */*) mkdir -p "${2%/*}" ;; esac || return 1
  if [ -d "$1" ] || { [ -d "$2" ] && [ ! -L "$2" ]; }; then
    { [ ! -e "$2" ] && [ ! -L "$2" ]; } || mv -T "$2" "$in/old/$index" || return 1
  fi
  mv -T "$1" "$2"
} 2>/dev/null
