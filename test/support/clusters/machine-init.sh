#!/bin/sh
# The first process of a machine, in mount, process and host name namespaces of its own: machine-init.sh FOLDER NAME PAUSE
# What kubelet and containerd keep in well-known places goes to the machine's folder; kernel settings that kubelet would
# change for the whole machine are shadowed by files.
set -e
folder=$1 name=$2 pause=$3
hostname "$name"
mount -t proc proc /proc
for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes; do
  mkdir -p "$folder/sysctl/$(dirname $setting)"
  cat "/proc/sys/$setting" > "$folder/sysctl/$setting"
  mount --bind "$folder/sysctl/$setting" "/proc/sys/$setting"
done
for place in run var/lib var/log; do
  mkdir -p "$folder/root/$place"
  mount --bind "$folder/root/$place" "/$place"
done
mount --make-rshared /
touch /run/machine-is-up
exec "$pause"
