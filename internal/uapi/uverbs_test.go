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

// headers returns what a C compiler makes of the headers of linux-libc-dev 6.1: a
// program beside the file printed it.
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

// compare holds each number that a program printed against a size, an offset or a
// constant here.
func compare(t *testing.T, got map[string]uint64, file string) {
	t.Helper()
	want := headers(t, file)
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
