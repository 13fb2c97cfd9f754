# PROJECT FILES: remove a project's directory: the files that mqctl put there (FILES: one a line, on
# the record), clean checkouts and .mqctl. Anything else keeps the directory and is named.
project=$1 files=$2
cd "$MQCTL_DIR/projects/$project" 2>/dev/null || exit 0
[ -e .mqctl/owner.json ] || { echo 'veto foreign'; exit 0; }
for dir in */.git .[!.]*/.git; do
  [ -e "$dir" ] || continue
  clean_or_leave "projects/$project/${dir%/.git}" ''
done
printf '%s\n' "$files" | while IFS= read -r name; do [ -z "$name" ] || rm -f -- "./$name"; done
for dir in */.git .[!.]*/.git; do
  [ -e "$dir" ] || continue
  # Renamed first: an interrupted removal must not look like a dirty checkout.
  mv "${dir%/.git}" "$MQCTL_DIR/.trash/in.$MQCTL_FENCE.gone.$$.${dir%%/*}" || exit
  rm -rf "$MQCTL_DIR/.trash/in.$MQCTL_FENCE.gone.$$.${dir%%/*}"
done
find . -mindepth 1 -depth -type d -not -path './.mqctl*' -empty -delete
rest=$(find . -mindepth 1 -maxdepth 1 -not -name .mqctl | head -n 3)
if [ -n "$rest" ]; then
  printf 'veto foreign-files %s\n' "$(printf '%s' "$rest" | tr '\n' ' ')"
  exit 0
fi
cd "$MQCTL_DIR" && mv "projects/$project" ".trash/in.$MQCTL_FENCE.gone.$$" && rm -rf ".trash/in.$MQCTL_FENCE.gone.$$"
