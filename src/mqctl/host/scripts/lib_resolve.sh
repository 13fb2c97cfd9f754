# resolve_all STAGE (PROJECT KIND DIRECTORY FILE LINKS)...: let Compose resolve input, side by side.
# KIND "staged": DIRECTORY and FILE are below STAGE, and LINKS (checkouts) shall be seen beside them;
# "live": they lie in a checkout, below the Marquee's directory.
resolve() (
  project=$2 root=$MQCTL_DIR dir=$4 file=$5 base=$MQCTL_DIR/projects/$2
  if [ "$3" = staged ]; then
    root=$1 base=$1/$4
    for name in $6; do [ -e "$root/$dir/$name" ] || ln -s "$MQCTL_DIR/projects/$project/$name" "$root/$dir/$name"; done
  fi
  answer=$(compose "$project" "$root/$dir" "$root/$file" '' "$CRED/$project.env" config --format json 2>"$CRED/$project.err")
  printf '@project %s %s\n@base %s\n@config\n%s\n@raw\n' "$project" $? "$base" "$(printf '%s\n' "$answer" | base64)"
  base64 <"$root/$file"
  printf '@error\n%s\n' "$(tail -n 20 "$CRED/$project.err" | base64)"
)

resolve_all() {
  stage=$1
  shift
  printf '@compose %s\n' "$(clean docker compose version --short 2>/dev/null)"
  waiting=0
  while [ $# -ge 5 ]; do
    resolve "$stage" "$1" "$2" "$3" "$4" "$5" >"$CRED/$1.out" &
    shift 5
    waiting=$((waiting + 1))
    if [ $waiting -ge 4 ]; then wait; waiting=0; fi
  done
  wait
  cat "$CRED"/*.out
}
