# PROJECT DIRECTORY FILE CHECKOUTS BLOCKING WORDS...: put staged files in place and apply. CHECKOUTS ""
# asks for no veto (nothing of theirs is rebuilt or replaced).
project=$1 dir=$2 file=$3
# shellcheck disable=SC2086 # checkouts are directories without blanks
veto_dirty $4
unblock "$project" "$5" || exit
shift 5
install_next "$project" || exit 73
apply() { compose "$project" "$dir" "$file" "projects/$project/.mqctl/override.yaml" "$CRED/env" "$@"; }
if lost=$(cut_off "$project") && [ -n "$lost" ]; then
  known=$(apply config --services 2>/dev/null | grep -Fx -e "$lost")
  # shellcheck disable=SC2086 # services, one a word
  [ -z "$known" ] || apply create --no-build --pull never --force-recreate $known >&2 || exit
fi
apply up --detach --no-build --pull never "$@" >&2
