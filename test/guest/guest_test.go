//go:build guest

package guest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/guest"
)

func TestBoot(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{})
	if got := strings.TrimSpace(g.Must(t, "uname", "-r")); got != g.Release || got == "" {
		t.Errorf("uname -r prints %q, agent said %q", got, g.Release)
	}
	if r := g.MustRun(t, "ls", "/sys/class/infiniband"); r.Code == 0 {
		t.Errorf("a guest without devices has /sys/class/infiniband: %s", r.Stdout)
	}
}

func TestDevices(t *testing.T) {
	t.Parallel()
	g := guest.New(t, guest.Spec{
		Devices: []guest.Device{{Name: "rxe0", Link: guest.Dummy}, {Name: "rxe1", Link: guest.Veth}},
		Tools:   []string{"ibv_devinfo", "ibstat", "ibstatus", "rdma", "strace"},
	})
	t.Run("rdma", func(t *testing.T) {
		out := g.Must(t, "rdma", "link")
		for _, p := range g.Ports {
			want := regexp.MustCompile(fmt.Sprintf(`link %s/1 state ACTIVE physical_state LINK_UP netdev %s\b`, p.Device, p.Netdev))
			if !want.MatchString(out) {
				t.Errorf("rdma link shows no %v:\n%s", want, out)
			}
		}
	})
	t.Run("ibv_devinfo", func(t *testing.T) {
		out := g.Must(t, "ibv_devinfo")
		for _, want := range []string{"hca_id:\trxe0", "hca_id:\trxe1", "PORT_ACTIVE (4)", "Ethernet"} {
			if !strings.Contains(out, want) {
				t.Errorf("ibv_devinfo prints no %q:\n%s", want, out)
			}
		}
	})
	t.Run("ibstat", func(t *testing.T) {
		if out := g.Must(t, "ibstat", "-l"); out != "rxe0\nrxe1\n" {
			t.Errorf("ibstat -l prints %q", out)
		}
	})
	t.Run("ibstatus", func(t *testing.T) {
		if out := g.Must(t, "ibstatus"); !strings.Contains(out, "Infiniband device 'rxe1' port 1 status:") {
			t.Errorf("ibstatus prints %q", out)
		}
	})
	t.Run("strace", func(t *testing.T) {
		r := g.MustRun(t, "strace", "-f", "-e", "trace=ioctl", "ibv_devinfo", "-d", "rxe0")
		if want := "RDMA_VERBS_IOCTL"; r.Code != 0 || !strings.Contains(r.Stderr, want) {
			t.Errorf("got exit code %d of strace, want 0 and %s:\n%s", r.Code, want, r.Stderr)
		}
	})
}
