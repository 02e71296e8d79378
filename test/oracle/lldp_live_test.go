//go:build oracle

package oracle

import (
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/internal/lldp"
	"github.com/ibkit/ibkit/test/debian"
)

// serveLLDP runs Debian's lldpd on veth p1, with the files that it needs in a mount namespace.
const serveLLDP = `
mount -t tmpfs none /run && mkdir -p /run/lldpd
(cat /etc/passwd; echo _lldpd:x:9999:9999::/run/lldpd:/bin/false) >/run/passwd
(cat /etc/group; echo _lldpd:x:9999:) >/run/group
mount --bind /run/passwd /etc/passwd && mount --bind /run/group /etc/group
export LD_LIBRARY_PATH=$1/usr/lib/x86_64-linux-gnu
echo "configure system hostname leaf1
configure ports p1 lldp portidsubtype local Ethernet1/3 description rack" >/run/lldpd.conf
exec $1/usr/sbin/lldpd -d -I p1 -u /run/lldpd.socket -O /run/lldpd.conf -L $1/usr/sbin/lldpcli
`

// TestLLDP receives the frames of Debian's lldpd, in a network namespace with a pair of devices.
func TestLLDP(t *testing.T) {
	root := t.TempDir()
	if err := debian.Bookworm.Unpack(t.Context(), root, "lldpd", "libsnmp40", "libsensors5"); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // never unlocked: the thread, in another namespace, ends with the test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("sh", "-exc", "ip link add p0 type veth peer name p1; ip link set p0 up; ip link set p1 up; ip link set lo up").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := exec.CommandContext(t.Context(), "unshare", "--mount", "sh", "-ec", serveLLDP, "sh", root)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Wait() })
	n, err := lldp.Listen(t.Context(), "p0")
	if err != nil || n == nil {
		t.Fatalf("got %v, error %v", n, err)
	}
	if n.Port != "Ethernet1/3" || n.PortDescription == nil || *n.PortDescription != "rack" || n.System == nil || *n.System != "leaf1" || n.PFC != nil {
		t.Errorf("got %+v", n)
	}
}
