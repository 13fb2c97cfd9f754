# install_next PROJECT: rename what was staged into its place. Files one by one, since a directory
# may be bind-mounted into a running container, and done again without harm after an interruption.
install_next() (
  cd "projects/$1" || exit 73
  # Shipped folders may be mounted into containers that do not run as root; those above stay private.
  umask 022
  [ -d .mqctl/next ] || exit 0
  find .mqctl/next -type l -delete
  if [ -f .mqctl/next/.mqctl/gone ]; then
    while IFS= read -r name; do rm -f -- "./$name"; done <.mqctl/next/.mqctl/gone
    rm -f .mqctl/next/.mqctl/gone
  fi
  ( cd .mqctl/next && find . -type f -print ) | while IFS= read -r name; do
    { mkdir -p "$(dirname "$name")" && mv -f -- ".mqctl/next/$name" "$name"; } || exit 73
  done || exit 73
  rm -rf .mqctl/next
)
