# network COMMAND ... runs a command in a network with the bridge br0 for nodes and pods, and
# with the addresses of the API server and of the name server. It has namespaces of its own.
set -e
mount --make-rprivate /
mount -t tmpfs none /run
ip link set lo up
ip link add br0 type bridge
ip addr add 10.96.0.1/8 dev br0
ip addr add 10.96.0.10/8 dev br0
ip link set br0 up
exec "$@"
