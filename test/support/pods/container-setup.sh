# Makes the file system of a container and becomes its command; runs as the first process of namespaces of its own.
#   container-setup.sh ROOT HOSTNAME (ro|rw SOURCE TARGET)... -- COMMAND...
set -e
root=$1
name=$2
shift 2

# Within a user namespace the flags that a mount came with must stay.
freeze() {
  mount -o remount,bind,ro "$1" 2>/dev/null || mount -o remount,bind,ro,nosuid,nodev "$1"
}

mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  mount --bind "$2" "$root$3"
  if [ "$1" = ro ]; then freeze "$root$3"; fi
  shift 3
done
shift
mount -t proc proc "$root/proc" 2>/dev/null || true # where the machine forbids it, as some containers do, Kafka can do without
freeze "$root"
hostname "$name"
exec "$@"
