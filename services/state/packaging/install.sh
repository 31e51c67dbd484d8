#!/bin/sh
# Installs the state service of this Croft as a service of the system: `install.sh` as root, or `DESTDIR=<folder> install.sh`
# to look at what would be where. `install.sh check` only says whether this Croft may be run by root. `install.sh remove` takes
# it away again; states and settings stay.
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)
croft=$(cd "$here/../../.." && pwd)
root=${DESTDIR-}
client=${CLIENT:-/usr/local/bin/croft}
hook=/usr/local/lib/croft/package-hook
units="croft-state.socket croft-state.service croft-state-prepare.service croft-state-commit.service croft-state-gc.service croft-state-gc.timer"
user_units="croft-state-save-home.service croft-state-save-home.timer"
enabled="croft-state.socket croft-state-prepare.service croft-state-commit.service croft-state-gc.timer"

# put <source> <target> [mode]: a file with the paths of this installation.
put() {
  mkdir -p "$root$(dirname "$2")"
  sed -e "s|@CROFT@|$croft|g" -e "s|@NODE@|$node|g" -e "s|@CLIENT@|$client|g" -e "s|@HOOK@|$hook|g" "$here/$1" >"$root$2.new"
  chmod "${3:-644}" "$root$2.new"
  mv -f "$root$2.new" "$root$2"
}

# systemd <command…>: only for the system that runs.
systemd() {
  [ -n "$root" ] || systemctl "$@"
}

# is_free <path>: nothing is there, not even a link to nothing.
is_free() {
  [ ! -e "$1" ] && [ ! -L "$1" ]
}

is_ours() {
  grep -q '^# Written by install.sh of the state service' "$root$client" 2>/dev/null
}

find_node() {
  for node in "$croft"/node_modules/node-linux-*/bin/node; do
    if [ -x "$node" ]; then return; fi
  done
  node=$(command -v node) || { echo "install.sh: there is no Node.js; run npm ci in $croft first" >&2; exit 1; }
}

refuse() {
  echo "install.sh: $1" >&2
  exit 1
}

# Units, hooks and shells each have characters of their own, so only those that none of them has.
check_paths() {
  for path in "$croft" "$node" "$client"; do
    case $path in
      *[!A-Za-z0-9/._+,=@~-]*) refuse "$path cannot stand in units: letters, digits and / . _ + , = @ ~ - can" ;;
      /*) ;;
      *) refuse "$path is not absolute" ;;
    esac
  done
}

# What lies there is run by root, so nobody else may change it, or put something else in its place.
check_owners() {
  if [ -n "$root" ] || [ "${ALLOW_UNSAFE-}" = 1 ]; then return; fi
  program=$(readlink -f "$node")
  parents=
  for path in "$croft" "$program"; do
    while [ "$path" != / ]; do
      path=$(dirname "$path")
      parents="$parents $path"
    done
  done
  # shellcheck disable=SC2086
  unsafe=$({
    find "$croft" ! -type l \( ! -user 0 -o -perm -020 -o -perm -002 \)
    find "$program" $parents -prune \( ! -user 0 -o -perm -020 -o -perm -002 \)
  } | head -n 1)
  [ -z "$unsafe" ] || refuse "others than root can change $unsafe, and with it what root runs; ALLOW_UNSAFE=1 installs all the same"
}

# Units and hooks run the client as root, so it is ours or there is none.
check_client() {
  if is_free "$root$client" || is_ours; then return; fi
  refuse "$client is not ours, and root would run it: move it away, or name another place for ours, such as CLIENT=/usr/local/bin/croft-state; nothing was changed"
}

check_all() {
  find_node
  check_paths
  check_owners
}

# Where bash, zsh and fish look for what was not installed by a package manager.
completions="bash:/usr/local/share/bash-completion/completions/croft zsh:/usr/local/share/zsh/site-functions/_croft fish:/usr/local/share/fish/vendor_completions.d/croft.fish"

completes_ours() {
  grep -q '^# croft state completion' "$1" 2>/dev/null
}

# They complete the word `croft`, which is somebody else's where our client has another name.
put_completions() {
  [ "$(basename "$client")" = croft ] || return 0
  for completion in $completions; do
    file=$root${completion#*:}
    is_free "$file" || completes_ours "$file" || continue
    mkdir -p "$(dirname "$file")"
    "$root$client" state completion "${completion%%:*}" >"$file.new"
    mv -f "$file.new" "$file"
  done
}

install_all() {
  check_all
  check_client
  put croft "$client" 755
  put_completions
  for unit in $units; do put "systemd/system/$unit" "/etc/systemd/system/$unit"; done
  for unit in $user_units; do put "systemd/user/$unit" "/etc/systemd/user/$unit"; done
  put package-hook "$hook" 755
  # Of package managers and boot loaders only those that are there.
  for kind in \
    "apt.conf.d/80croft-state /etc/apt/apt.conf.d" \
    "libdnf5/croft-state.actions /etc/dnf/libdnf5-plugins/actions.d" \
    "dnf4/croft-state-before.action /etc/dnf/plugins/pre-transaction-actions.d" \
    "dnf4/croft-state-after.action /etc/dnf/plugins/post-transaction-actions.d" \
    "pacman/05-croft-state-save.hook /usr/share/libalpm/hooks" \
    "pacman/95-croft-state-menu.hook /usr/share/libalpm/hooks"; do
    if [ -d "$root${kind#* }" ]; then put "${kind%% *}" "${kind#* }/$(basename "${kind%% *}")"; fi
  done
  if [ -d "$root/etc/grub.d" ]; then put grub.d/42_croft /etc/grub.d/42_croft 755; fi
  systemd daemon-reload
  # shellcheck disable=SC2086
  systemd enable $enabled
  systemd start croft-state.socket croft-state-gc.timer
  # One that runs is the old one.
  systemd try-restart croft-state.service
  systemd --global enable croft-state-save-home.timer
}

remove_all() {
  # shellcheck disable=SC2086
  systemd disable --now $enabled croft-state.service || true
  systemd --global disable croft-state-save-home.timer || true
  for unit in $units; do rm -f "$root/etc/systemd/system/$unit"; done
  for unit in $user_units; do rm -f "$root/etc/systemd/user/$unit"; done
  rm -f "$root$hook" "$root/etc/apt/apt.conf.d/80croft-state" "$root/etc/grub.d/42_croft" \
    "$root/etc/dnf/libdnf5-plugins/actions.d/croft-state.actions" \
    "$root/etc/dnf/plugins/pre-transaction-actions.d/croft-state-before.action" \
    "$root/etc/dnf/plugins/post-transaction-actions.d/croft-state-after.action" \
    "$root/usr/share/libalpm/hooks/05-croft-state-save.hook" "$root/usr/share/libalpm/hooks/95-croft-state-menu.hook"
  rmdir "$root$(dirname "$hook")" 2>/dev/null || true
  if is_ours; then rm -f "$root$client"; fi
  for completion in $completions; do
    if completes_ours "$root${completion#*:}"; then rm -f "$root${completion#*:}"; fi
  done
  systemd daemon-reload
}

case ${1-install} in
  install) install_all ;;
  check) check_all ;;
  remove) remove_all ;;
  *) echo "usage: install.sh [install|check|remove]" >&2; exit 2 ;;
esac
