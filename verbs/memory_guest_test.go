//go:build inguest

package verbs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/verbs"
	"github.com/ibkit/ibkit/verbs/dmamem"
)

// Memory of huge pages, set aside by the administrator, and memory near a node.
func TestGuestMemoryKinds(t *testing.T) {
	const setAside = "/proc/sys/vm/nr_hugepages"
	c := open(t)
	if _, err := c.NewMemory(1, true); err == nil || !strings.Contains(err.Error(), "vm.nr_hugepages") {
		t.Errorf("huge pages where there are none: %v", err)
	} else {
		t.Log(err)
	}
	if err := os.WriteFile(setAside, []byte("2"), 0); err != nil {
		t.Fatal(err)
	}
	defer os.WriteFile(setAside, []byte("0"), 0)
	huge := must(c.NewMemory(3<<20, true))(t)
	if smaps, err := os.ReadFile("/proc/self/smaps"); err != nil || !regexp.MustCompile(`Private_Hugetlb: +4096 kB`).Match(smaps) {
		t.Errorf("no huge pages: %v", err)
	}
	near := must(dmamem.New(1<<20, dmamem.Options{Node: new(int)}))(t)
	if mode := policy(t, near); mode != 1 { // MPOL_PREFERRED
		t.Errorf("policy %d", mode)
	}
	if node := c.NUMANode(); node != nil {
		t.Errorf("software is plugged in at node %d", *node)
	}

	a := newEndpoint(t, c, verbs.QPTypeRC, false)
	a.connect(a)
	from, to := must(a.pd.RegisterMR(huge, verbs.AccessLocalWrite))(t), must(a.pd.RegisterMR(near, allAccess))(t)
	want := pattern(from.Bytes()[2<<20:], 1)[:1<<20]
	a.send(remote(verbs.SendWR{ID: 1, Opcode: verbs.OpWrite, SGEs: []verbs.SGE{from.SGE(2<<20, 1<<20)}}, to, 0))
	a.ok(1, verbs.CompletedWrite)
	same(t, "write of huge pages", to.Bytes(), want)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for _, m := range []*dmamem.Memory{huge, near} {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// policy returns the mode by which the kernel takes pages of memory.
func policy(t *testing.T, m *dmamem.Memory) (mode int32) {
	t.Helper()
	const byAddress = 1 << 1 // MPOL_F_ADDR
	_, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&mode)), 0, 0, uintptr(m.Addr()), byAddress, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	return mode
}
