#!/bin/sh
# Runs a command beside a systemd of its own for this user: unshare --mount --pid --fork --mount-proc sh session.sh <folder> <command…>
set -e
home=$1
shift
mount -t tmpfs tmpfs /run
# systemd serves users only where it has started the machine
mkdir -p /run/systemd/system /run/user/0
chmod 700 /run/user/0
for group in /sys/fs/cgroup/systemd /sys/fs/cgroup; do
  if [ -w "$group/cgroup.procs" ]; then
    mkdir -p "$group/guard-test"
    echo $$ >"$group/guard-test/cgroup.procs"
    break
  fi
done
unset SUDO_USER XDG_CONFIG_HOME
export XDG_RUNTIME_DIR=/run/user/0 HOME="$home"
env -i PATH="$PATH" HOME="$home" XDG_RUNTIME_DIR=/run/user/0 SYSTEMD_UNIT_PATH="$home/.config/systemd/user:" \
  /lib/systemd/systemd --user --log-target=null &
manager=$!
tries=0
until systemctl --user show --property Version >/dev/null 2>&1 || [ $tries -gt 100 ]; do
  tries=$((tries + 1))
  sleep 0.05
done
status=0
"$@" || status=$?
kill "$manager"
wait "$manager" || true
exit $status
