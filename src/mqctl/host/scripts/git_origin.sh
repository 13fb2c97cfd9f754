# DIR URL BRANCH: correct where the checkout fetches from.
( cd "$1" && g remote set-url origin "$2" 2>/dev/null || g remote add origin "$2" ) || exit
git_state "$1" "$3"
