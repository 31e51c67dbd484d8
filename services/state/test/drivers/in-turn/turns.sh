# Read by `zfs` and `zpool` beside it, which tests and their daemons find instead of the programs of the system.
#
# zfs-fuse cannot do two things at once that tests, with daemons and pools side by side, would have it do:
# - It stops answering for good when two file systems are mounted at the same time, and a home that was mounted while another one was
#   unmounted was not there now and then.
# - It closes what it had of an unmounted file system twice. Whoever comes to it between the two gets that very number, and is closed:
#   his `zfs` ends with "Connection reset by peer".
# So what mounts or unmounts has it for itself, and all others share it.
PATH=/usr/sbin:/sbin:/usr/bin:/bin
export PATH
turns=/tmp/croft-zfs-fuse.turns

# The program inherits the lock, which the kernel takes back when it ends, however it does.
together() {
  exec flock --no-fork --shared $turns "$@"
}

# How many of its file systems are mounted, without a process.
count_mounted() {
  mounted=0
  while read -r _ _ type _; do
    [ "$type" = fuse.zfs ] && mounted=$((mounted + 1))
  done </proc/self/mounts
}

alone() {
  exec 9>>$turns
  flock 9
  # Without a newline at its end, which `read` tells as a failure.
  [ -e /tmp/croft-zfs-fuse.pid ] || exec "$@"
  read -r fuse </tmp/croft-zfs-fuse.pid
  count_mounted
  before=$mounted
  "$@"
  code=$?
  count_mounted
  # It closes what was unmounted after `zfs` has ended. Where it holds one for good, which it does now and then, the others go on.
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ "$mounted" -lt "$before" ] || break
    [ "$(find "/proc/$fuse/fd" -lname /dev/fuse 2>/dev/null | wc -l)" -gt "$mounted" ] || break
    sleep 0.02
  done
  exit $code
}
