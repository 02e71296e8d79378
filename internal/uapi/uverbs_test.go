package uapi

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
)

// headers returns what a C compiler makes of the headers of linux-libc-dev 6.1:
// testdata/uverbs.c printed it.
func headers(t *testing.T) map[string]uint64 {
	t.Helper()
	text, err := os.ReadFile("testdata/uverbs.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]uint64{}
	for line := range strings.Lines(string(text)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if all[name], err = strconv.ParseUint(number, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Each number that the program printed is that of a size, an offset or a constant
// here.
func TestUverbs(t *testing.T) {
	got := map[string]uint64{}
	maps.Copy(got, layout())
	maps.Copy(got, constants)
	want := headers(t)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if v, ok := got[name]; !ok || v != want[name] {
			t.Errorf("%s: %d, in C %d", name, v, want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: not printed by the C program", name)
		}
	}
}

// What the headers of Linux 6.1 have not is where rdma-core 65 has it.
func TestUverbsNewer(t *testing.T) {
	if o := unsafe.Offsetof(QueryPortRespEx{}.ActiveSpeedEx); o != 44 {
		t.Errorf("active_speed_ex: offset %d", o)
	}
	if o := unsafe.Offsetof(IRDMAAllocUcontextReq{}.CompMask); o != 8 {
		t.Errorf("comp_mask: offset %d", o)
	}
	if o := unsafe.Offsetof(EFAAllocUcontextCmd{}.SupportedCaps); o != 0 {
		t.Errorf("supported_caps: offset %d", o)
	}
	for want, got := range map[int]int{
		0x1000: AttrUHWIn, 0x1001: AttrUHWOut, 19: ObjectCompCounter, 7: MethodQueryPortSpeed, 5: MethodRegMR,
	} {
		if got != want {
			t.Errorf("constant %d, in C %d", got, want)
		}
	}
}
