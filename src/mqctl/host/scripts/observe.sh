# One look at everything. Arguments: DIR BRANCH for each declared checkout.
echo '@time'; date +%s
echo '@containers'; docker_ps 2>&1 || echo "@failed containers $?"
echo '@images'; docker_images 2>&1 || echo "@failed images $?"
echo '@networks'; docker_networks 2>&1 || echo "@failed networks $?"
if [ -d projects ]; then
  echo '@entries'; find projects -mindepth 2 -maxdepth 2 -print0 | base64
  echo '@files'
  find projects tombstones -maxdepth 3 \( -path 'projects/*/.mqctl/owner.json' -o -path 'projects/*/.mqctl/record.json' \
    -o -path 'projects/*/.mqctl/hold' -o -path 'tombstones/*' \) -type f -size -8192k -print0 2>/dev/null |
    tar -c --null -T - 2>/dev/null | base64
  echo '@hashes'
  for list in projects/*/.mqctl/watched; do
    [ -f "$list" ] || continue
    ( cd "${list%/.mqctl/watched}" && echo "project ${PWD##*/}" && xargs -d '\n' sha256sum -- <.mqctl/watched 2>/dev/null )
  done
  echo '@checkouts'
  seen=
  while [ $# -gt 1 ]; do
    if [ -e "$1" ]; then git_state "$1" "$2"; seen="$seen|$1|"; fi
    shift 2
  done
  for dir in projects/*/*/.git; do
    dir=${dir%/.git}
    case $seen in *"|$dir|"*) continue ;; esac
    if [ -e "$dir/.git" ]; then git_state "$dir" ''; fi
  done
fi
echo '@pulled'; cat pulled 2>/dev/null
echo '@disk'; df -Pk . /var/lib/docker 2>/dev/null
echo '@end'
