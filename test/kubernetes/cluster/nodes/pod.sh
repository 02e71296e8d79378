# pod ROOT HOSTNAME MOUNTS [FROM TO ...] COMMAND ... runs a command in a root directory, with
# some directories of the host. It has namespaces of its own.
set -e
root=$1 mounts=$3
hostname "$2"
shift 3
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
for device in null zero random urandom; do
	: >"$root/dev/$device"
	mount --bind "/dev/$device" "$root/dev/$device"
done
while [ "$mounts" -gt 0 ]; do
	mount --rbind "$1" "$root$2"
	shift 2
	mounts=$((mounts - 2))
done
exec chroot "$root" "$@"
