# close NUMBER TOKEN: from now on nothing runs under this number, whatever is still on its way.
close() {
  number=$1 token=$2
  numbers "$number"
  stand
  lock 100 || busy
  load_fence
  same_place
  ours
  mkdir -p .trash 2>/dev/null || unwritable
  authority=$f_authority ttl=$f_ttl
  store closed
  refuse shut
}
