# KEY URL "REF REF..." and again: the tips of those branches, asked for side by side.
ask() (
  use_credentials "$1"
  set -f
  # shellcheck disable=SC2086 # references hold no blanks
  if answer=$(g ls-remote --heads -- "$2" $3 2>"$CRED/$1.err"); then
    printf 'repository %s ok\n%s\n' "$1" "$answer"
  else
    printf 'repository %s failed\nerror %s\n' "$1" "$(first_line "$(cat "$CRED/$1.err")")"
  fi >"$CRED/$1.out"
)
waiting=0
while [ $# -ge 3 ]; do
  ask "$1" "$2" "$3" &
  shift 3
  waiting=$((waiting + 1))
  if [ $waiting -ge 8 ]; then wait; waiting=0; fi
done
wait
cat "$CRED"/*.out
