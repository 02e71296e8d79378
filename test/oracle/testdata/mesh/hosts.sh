# hosts.sh DIR N COMMAND ... runs a command on the host head of a network with the hosts node01,
# node02 ..., which run sshd. It needs namespaces of its own for the network, mounts, host name
# and processes. DIR has sshd_config.
set -e
dir=$1
count=$2
shift 2
mount --make-rprivate /
hostname head
{
	echo 127.0.0.1 localhost
	echo 10.77.0.254 head
	for i in $(seq "$count"); do printf '10.77.0.%d node%02d\n' "$i" "$i"; done
} >"$dir/etc-hosts"
mount --bind "$dir/etc-hosts" /etc/hosts
mount -t tmpfs none /run
mkdir /run/sshd
ip link set lo up
ip link add br0 type bridge
ip addr add 10.77.0.254/24 dev br0
ip link set br0 up
for i in $(seq "$count"); do
	name=$(printf node%02d "$i")
	ip netns add "$name"
	ip link add "$name" type veth peer name eth0 netns "$name"
	ip link set "$name" master br0 up
	ip -n "$name" addr add "10.77.0.$i/24" dev eth0
	ip -n "$name" link set eth0 up
	ip -n "$name" link set lo up
	ip netns exec "$name" unshare --uts sh -c "hostname $name; exec /usr/sbin/sshd -D -e -f $dir/sshd_config" 2>"$dir/$name.log" &
done
"$@"
