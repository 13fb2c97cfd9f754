# veto_dirty DIR...: uncommitted work stops the script before it acts (check and act under one flock).
veto_dirty() { for one in "$@"; do clean_or_leave "$one" ''; done; }
