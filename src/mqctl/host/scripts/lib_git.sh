# Git without anything of the host's or the user's configuration, helpers, hooks or prompts.
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_TERMINAL_PROMPT=0 GIT_OPTIONAL_LOCKS=0 GIT_ASKPASS=/bin/false SSH_ASKPASS=/bin/false
export GIT_CEILING_DIRECTORIES="$MQCTL_DIR"

g() {
  git -c safe.directory='*' -c core.fsmonitor=false -c core.hooksPath=/dev/null -c gc.auto=0 \
    -c maintenance.auto=false -c credential.helper= -c protocol.ext.allow=never \
    -c advice.detachedHead=false -c submodule.recurse=false "$@" </dev/null
}

# use_credentials PREFIX: what the bundle brought for one repository, for the next git commands.
use_credentials() {
  ssh="ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -o ControlMaster=no -o ControlPath=none"
  ssh="$ssh -o ConnectTimeout=15 -o ServerAliveInterval=15 -o ServerAliveCountMax=3"
  if [ -e "$CRED/$1.key" ]; then ssh="$ssh -o IdentitiesOnly=yes -o IdentityAgent=none -i '$CRED/$1.key'"; fi
  if [ -e "$CRED/$1.known_hosts" ]; then
    ssh="$ssh -o UserKnownHostsFile='$CRED/$1.known_hosts' -o GlobalKnownHostsFile=/dev/null"
  fi
  export GIT_SSH_COMMAND="$ssh" GIT_ASKPASS=/bin/false
  if [ -e "$CRED/$1.token" ]; then
    cat >"$CRED/$1.askpass" <<'ASK'
#!/bin/sh
case $1 in Username*) cat "${0%.askpass}.username" ;; *) cat "${0%.askpass}.token" ;; esac
ASK
    chmod 700 "$CRED/$1.askpass"
    export GIT_ASKPASS="$CRED/$1.askpass"
  fi
}

first_line() { printf '%s\n' "$1" | grep -v '^[[:space:]]*$' | grep -v '^Cloning into' | head -n 1 | tr '\t' ' '; }

# git_state DIR BRANCH: describe one checkout, a word and its value a line. What cannot be read is
# said in a line "error ...". BRANCH is the declared one, "" if none.
git_state() (
  printf 'checkout %s\n' "$1"
  cd "$MQCTL_DIR/$1" 2>/dev/null || { echo 'error the directory cannot be entered'; return; }
  [ -e .git ] || { echo 'error there is no git repository in it'; return; }
  listing=$(g status --porcelain=v2 --branch --untracked-files=normal --ignore-submodules=none 2>&1) ||
    { printf 'error %s\n' "$(first_line "$listing")"; return; }
  head=$(printf '%s\n' "$listing" | sed -n 's/^# branch.oid //p')
  branch=$(printf '%s\n' "$listing" | sed -n 's/^# branch.head //p')
  printf 'branch %s\n' "$branch"
  printf 'changes %s\n' "$(printf '%s\n' "$listing" | grep -vc '^#')"
  printf 'origin %s\n' "$(g config --get remote.origin.url | head -n 1)"
  tips=HEAD
  if [ "$head" = '(initial)' ]; then tips=; else printf 'head %s\n' "$head"; fi
  stashes=$(g stash list --format=%H 2>/dev/null)
  # shellcheck disable=SC2086 # hashes, one a word
  count=$(g rev-list --count $tips $stashes --branches --not --remotes --glob=refs/mqctl/fetched/ 2>&1) ||
    { printf 'error %s\n' "$(first_line "$count")"; return; }
  printf 'local %s\n' "$count"
  dir=$(g rev-parse --absolute-git-dir) || { echo 'error its git directory cannot be found'; return; }
  for sign in MERGE_HEAD:merge CHERRY_PICK_HEAD:cherry-pick REVERT_HEAD:revert BISECT_LOG:bisect \
    rebase-merge:rebase rebase-apply:rebase sequencer:sequencer worktrees:worktree; do
    if [ -e "$dir/${sign%%:*}" ]; then printf 'operation %s\n' "${sign#*:}"; fi
  done
  # The last line that tells clean from dirty: an answer without it was cut, and counts as dirty.
  printf 'hidden %s\n' "$(g ls-files -v 2>/dev/null | grep -c '^[a-zS] ')"
  if [ -n "$2" ] && tip=$(g rev-parse --verify --quiet "refs/remotes/origin/$2"); then
    printf 'tip %s\n' "$tip"
    if [ -n "$tips" ]; then
      printf 'apart %s\n' "$(g rev-list --left-right --count "HEAD...$tip" 2>/dev/null | tr '\t' ' ')"
    fi
  fi
)

# clean_or_leave DIR BRANCH: the check that the act below it depends on; both are one guarded script.
clean_or_leave() {
  state=$(git_state "$1" "$2")
  proofs=$(printf '%s\n' "$state" | grep -Exc '(changes|local|hidden) 0')
  if [ "$proofs" != 3 ] || printf '%s\n' "$state" | grep -Eq '^(error|operation) |^(changes|local|hidden) [^0]'; then
    echo 'veto dirty'
    printf '%s\n' "$state"
    exit 0
  fi
}
