# DIR BRANCH TIP: fetch, then move a clean checkout to the tip of its declared branch.
dir=$1 branch=$2
use_credentials repo
umask 022 # what a container mounts it must be able to read; the folders above are private
clean_or_leave "$dir" "$branch"
cd "$dir" || exit
before=$(g rev-parse --verify --quiet HEAD)
was=$(g symbolic-ref --quiet --short HEAD)
# Clean means: all that is here came from the remote. Remember it, so that commits which a force-push
# or a deleted branch takes off the remote are not mistaken for someone's work.
for sha in $(g for-each-ref --format='%(objectname)' refs/heads) $before; do
  g update-ref "refs/mqctl/fetched/$sha" "$sha" || exit
done
g fetch --quiet --prune --no-tags --no-write-fetch-head origin '+refs/heads/*:refs/remotes/origin/*' || exit 69
tip=$(g rev-parse --verify --quiet "refs/remotes/origin/$branch") || { echo "the branch $branch is not on the remote" >&2; exit 66; }
verb=none
if [ "$was" != "$branch" ]; then verb=switch
elif [ "$before" = "$tip" ]; then verb=none
elif [ -z "$before" ] || g merge-base --is-ancestor "$before" "$tip"; then verb=fast-forward
else verb=reset; fi
if [ $verb != none ]; then
  # Not `reset --hard`: this refuses to overwrite a file that changed meanwhile, or an ignored one.
  GIT_OPTIONAL_LOCKS=1 g checkout --quiet --no-overwrite-ignore -B "$branch" --track "origin/$branch" -- || exit
fi
echo "moved $verb"
cd "$MQCTL_DIR" && git_state "$dir" "$branch"
