//go:build oracle

package ibsimtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/netgen"
)

func TestCommandTakesEffect(t *testing.T) {
	s := New(t, "../nets/parallel-links-and-router.net")
	count := func(what string) int {
		return strings.Count(s.MustRunC(t, "host-a", "iblinkinfo", "-l").Stdout, what)
	}
	if got := count("Initialize/"); got != 16 {
		t.Errorf("%d ends of links are up, want 16", got)
	}
	s.MustCommand(t, `Unlink "leaf-1"[4]`)
	if got := count("Initialize/"); got != 14 {
		t.Errorf("%d ends of links are up after an Unlink, want 14", got)
	}
	s.OpenSM(t, "host-a")
	if got := count("Active/"); got != 14 {
		t.Errorf("%d ends of links are active after opensm, want 14", got)
	}
	if _, err := s.Command(`Unlink "nobody"`); err == nil {
		t.Error("Unlink of an unknown node: no error")
	}
}

func TestStartSM(t *testing.T) {
	s := New(t, "../nets/back-to-back.net")
	s.NewSM(t, "left")
	if r := s.MustRunC(t, "right", "sminfo"); r.Code != 0 || !strings.Contains(r.Stdout, "SMINFO_MASTER") {
		t.Errorf("sminfo: got exit code %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
}

func TestLoadsAll(t *testing.T) {
	nets, err := filepath.Glob("../nets/*.net")
	if err != nil || len(nets) == 0 {
		t.Fatalf("find net files: %v, %v", nets, err)
	}
	for _, net := range nets {
		New(t, net)
	}
	New(t, "../nets/broken/duplicate-guids.net", "-I")
	for _, name := range Share([]string{"ft1k", "ft100", "ft4k", "ft10k"}, 0, 2) {
		New(t, WriteNet(t, name, netgen.Shapes[name]))
	}
}

func TestStartReportsBadNet(t *testing.T) {
	net := filepath.Join(t.TempDir(), "net")
	if err := os.WriteFile(net, []byte("Switch\t8 \"s\"\n[99]\t\"t\"[1]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := Start(net); err == nil {
		t.Errorf("no error, stop: %v", s.Stop())
	}
}
