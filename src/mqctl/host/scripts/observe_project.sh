# PROJECT [DIR BRANCH]...: one project observed again, with what only inspect knows.
echo '@time'; date +%s
echo '@images'; docker_images 2>&1 || echo "@failed images $?"
echo '@containers'; docker_ps --filter "label=com.docker.compose.project=$1" 2>&1 || echo "@failed containers $?"
echo '@inspections'
ids=$(timeout -k 2 30 docker ps -aq --no-trunc --filter "label=com.docker.compose.project=$1")
# shellcheck disable=SC2086 # ids, one a word; one that vanished meanwhile is no failure
[ -z "$ids" ] || docker_inspect $ids
echo '@end'
