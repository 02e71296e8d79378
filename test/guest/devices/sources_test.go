//go:build guest

package devices_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/test/guest"
)

// A report has the devinfo JSON fields that are compared.
type report struct {
	Devices []struct {
		Name         string
		Type         string
		NodeGUID     string `json:"node_guid"`
		SysImageGUID string `json:"system_guid"`
		Ports        []struct {
			Port, LID           int
			PhysState           string `json:"phys_state"`
			State, Netdev, Rate string
		}
	}
	Problems []struct{ Text string }
}

func parse(t *testing.T, r guest.Result) (got report) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", r.Code, err, r.Stdout, r.Stderr)
	}
	return got
}

// TestSources compares the devices found by netlink alone, by sysfs alone and by both,
// and the fields that iproute2 has.
func TestSources(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec)
	both := parse(t, g.MustRun(t, "ibkit", "devinfo", "--json"))
	if len(both.Devices) != len(spec.Devices) || len(both.Problems) > 0 {
		t.Fatalf("found %+v", both)
	}
	netlink := parse(t, g.MustRun(t, "sh", "-c", "mount -t tmpfs none /sys/class && ibkit devinfo --json; umount /sys/class"))
	if d := cmp.Diff(both.Devices, netlink.Devices); d != "" {
		t.Errorf("by both (-), by netlink (+)\n%s", d)
	}
	sysfs := parse(t, g.MustRun(t, "env", "IBKIT_SYSFS=/sys/", "ibkit", "devinfo", "--json"))
	if d := cmp.Diff(both.Devices, sysfs.Devices); d != "" {
		t.Errorf("by both (-), by sysfs (+)\n%s", d)
	}

	var theirs []struct {
		Ifname       string
		NodeType     string `json:"node_type"`
		NodeGUID     string `json:"node_guid"`
		SysImageGUID string `json:"sys_image_guid"`
	}
	if err := json.Unmarshal([]byte(g.Must(t, "rdma", "-j", "dev")), &theirs); err != nil {
		t.Fatal(err)
	}
	hex := func(guid string) string { return "0x" + strings.ReplaceAll(guid, ":", "") }
	var got, want []string
	for _, d := range theirs {
		want = append(want, fmt.Sprint(d.Ifname, d.NodeType, hex(d.NodeGUID), hex(d.SysImageGUID)))
	}
	for _, d := range both.Devices {
		got = append(got, fmt.Sprint(d.Name, strings.ToLower(d.Type), d.NodeGUID, d.SysImageGUID))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("rdma dev (-), devinfo (+)\n%s", d)
	}
}

// TestUser runs devinfo as an unprivileged user with and without access to the devices,
// and without device nodes.
func TestUser(t *testing.T) {
	t.Parallel()
	g := guest.New(t, spec)
	user := func(args ...string) guest.Result {
		t.Helper()
		r, err := g.Run(t.Context(), guest.Command{Args: append([]string{"ibkit"}, args...), User: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	g.Must(t, "sh", "-c", "chmod 666 /dev/infiniband/uverbs*")
	if r := user("devinfo"); r.Code != 0 || r.Stderr != "" || !strings.Contains(r.Stdout, "rxe1") {
		t.Errorf("with access: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	want := g.Must(t, "ibv_devinfo")
	if r := user("ibv_devinfo"); r.Code != 0 || r.Stdout != want {
		t.Errorf("ibv_devinfo: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	g.Must(t, "sh", "-c", "chmod 600 /dev/infiniband/uverbs*")
	r := user("devinfo")
	if r.Code != 4 || !strings.Contains(r.Stdout, "Active") || !strings.Contains(r.Stderr, "/dev/infiniband/uverbs0") ||
		!strings.Contains(r.Stderr, "permission denied") || !strings.Contains(r.Stderr, "run as root") {
		t.Errorf("without access: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	g.Must(t, "rm", "-r", "/dev/infiniband")
	r = g.MustRun(t, "ibkit", "devinfo")
	if r.Code != 4 || !strings.Contains(r.Stdout, "rxe1") || strings.Count(r.Stderr, "no such file") != len(spec.Devices) {
		t.Errorf("without device nodes: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
	for _, d := range spec.Devices {
		g.Must(t, "rdma", "link", "delete", d.Name)
	}
	r = g.MustRun(t, "ibkit", "devinfo")
	if r.Code != 1 || !strings.Contains(r.Stderr, "no RDMA device") || !strings.Contains(r.Stderr, "hint:") {
		t.Errorf("without devices: exit code %d\n%s%s", r.Code, r.Stdout, r.Stderr)
	}
}

// TestMany compares ibkit with Debian's tools on a host with 16 devices, or 64 with all cases.
func TestMany(t *testing.T) {
	t.Parallel()
	many := spec
	many.Devices = nil
	count := testenv.Rounds(16, 64)
	for i := range count {
		many.Devices = append(many.Devices, guest.Device{Name: fmt.Sprintf("rxe%d", i), Link: guest.Dummy})
	}
	g := guest.New(t, many)
	got := parse(t, g.MustRun(t, "ibkit", "devinfo", "--json"))
	if len(got.Devices) != count || len(got.Problems) > 0 {
		t.Errorf("%d devices, problems %v", len(got.Devices), got.Problems)
	}
	for _, tool := range []string{"ibv_devinfo", "ibv_devices", "ibstat"} {
		if got, want := g.Must(t, "ibkit", tool), g.Must(t, tool); got != want {
			t.Errorf("%s differs:\n%s", tool, cmp.Diff(want, got))
		}
	}
}
