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

// headers returns the sizes, offsets and constants of a C compiler with the headers
// of linux-libc-dev 6.1, printed by the program next to the file.
func headers(t *testing.T, file string) map[string]uint64 {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]uint64{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		space := strings.LastIndexByte(line, ' ')
		if all[line[:space]], err = strconv.ParseUint(line[space+1:], 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestUverbs(t *testing.T) {
	got := layout()
	maps.Copy(got, constants)
	compare(t, got, "testdata/uverbs.txt")
}

// compare compares all numbers in the C program's output with this package's.
func compare(t *testing.T, got map[string]uint64, file string) {
	t.Helper()
	want := headers(t, file)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if v, ok := got[name]; !ok || v != want[name] {
			t.Errorf("%s: got %d, want %d", name, v, want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: got %d, not printed by the C program", name, got[name])
		}
	}
}

// Declarations that the Linux 6.1 headers lack come from rdma-core 65.
func TestUverbsNewer(t *testing.T) {
	if o := unsafe.Offsetof(QueryPortRespEx{}.ActiveSpeedEx); o != 44 {
		t.Errorf("active_speed_ex: got offset %d, want 44", o)
	}
	if o := unsafe.Offsetof(IRDMAAllocUcontextReq{}.CompMask); o != 8 {
		t.Errorf("comp_mask: got offset %d, want 8", o)
	}
	if o := unsafe.Offsetof(EFAAllocUcontextCmd{}.SupportedCaps); o != 0 {
		t.Errorf("supported_caps: got offset %d, want 0", o)
	}
	for want, got := range map[int]int{
		0x1000: AttrUHWIn, 0x1001: AttrUHWOut, 19: ObjectCompCounter, 7: MethodQueryPortSpeed, 5: MethodRegMR,
	} {
		if got != want {
			t.Errorf("got constant %#x, want %#x", got, want)
		}
	}
}
