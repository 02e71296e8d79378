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
)

// Memory can be on reserved huge pages, or near a NUMA node.
func TestGuestMemoryKinds(t *testing.T) {
	const reserved = "/proc/sys/vm/nr_hugepages"
	c := open(t)
	if _, err := c.NewMemory(1, verbs.MemoryOptions{Huge: true}); err == nil || !strings.Contains(err.Error(), "vm.nr_hugepages") {
		t.Errorf("no huge pages: got error %v, want vm.nr_hugepages in it", err)
	} else {
		t.Log(err)
	}
	if err := os.WriteFile(reserved, []byte("2"), 0); err != nil {
		t.Fatal(err)
	}
	defer os.WriteFile(reserved, []byte("0"), 0)
	huge := must(c.NewMemory(3<<20, verbs.MemoryOptions{Huge: true}))(t)
	if smaps, err := os.ReadFile("/proc/self/smaps"); err != nil || !regexp.MustCompile(`Private_Hugetlb: +4096 kB`).Match(smaps) {
		t.Errorf("got no 4096 kB of huge pages: %v\n%s", err, smaps)
	}
	near := must(c.NewMemory(1<<20, verbs.MemoryOptions{Node: new(int)}))(t)
	if mode := policy(t, near); mode != 1 { // MPOL_PREFERRED
		t.Errorf("got policy %d, want 1", mode)
	}
	if node := c.NUMANode(); node != nil {
		t.Errorf("got NUMA node %d of a software device, want nil", *node)
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
	for _, m := range []*verbs.Memory{huge, near} {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// policy returns the pages' memory policy.
func policy(t *testing.T, m *verbs.Memory) (mode int32) {
	t.Helper()
	const byAddress = 1 << 1 // MPOL_F_ADDR
	_, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&mode)), 0, 0, uintptr(m.Addr()), byAddress, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	return mode
}
