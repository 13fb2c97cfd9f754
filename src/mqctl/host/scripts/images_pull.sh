# LIMIT REFERENCE...: pull side by side, each bounded by LIMIT seconds, each with an answer of its own
# as soon as it is known: should the whole be ended early, what was pulled is told.
use_registries
limit=$1
shift
pull() (
  before=$(docker image inspect --format '{{.Id}}' "$2" </dev/null 2>/dev/null)
  if timeout -k 5 "$limit" docker pull --quiet "$2" </dev/null >/dev/null 2>"$CRED/pull.$1.err"; then
    after=$(docker image inspect --format '{{.Id}}' "$2" </dev/null)
    printf 'pulled %s %s %s\n' "$2" "${before:-none}" "$after"
    # What mqctl pulled it may remove one day; one line, appended under the guard's flock.
    [ "$before" = "$after" ] || printf '%s %s %s\n' "$after" "$(date +%s)" "$2" >>"$MQCTL_DIR/pulled"
  else
    status=$?
    if [ $status = 124 ]; then echo "no answer within $limit s" >>"$CRED/pull.$1.err"; fi
    printf 'failed %s %s\n' "$2" "$(tail -n 1 "$CRED/pull.$1.err")"
  fi
)
n=0 waiting=0
for reference in "$@"; do
  n=$((n + 1))
  pull $n "$reference" &
  waiting=$((waiting + 1))
  if [ $waiting -ge 4 ]; then wait; waiting=0; fi
done
wait
