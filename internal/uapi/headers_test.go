package uapi

import (
	"go/token"
	"slices"
	"strings"
	"testing"
)

// recorded are the declarations of linux-libc-dev 6.1, as a C compiler describes them.
const recorded = "testdata/headers.txt"

// newer are declarations that these headers lack, of rdma-core 65.
const newer = "testdata/newer.txt"

// withoutHeader are structures that no header declares: of a driver, or room for any driver's.
var withoutHeader = []string{"AllocPDVendorResp", "PVRDMARing", "PVRDMARingState"}

// withoutName are constants without a name in the headers.
var withoutName = []string{"CQModerate", "MWType2", "NoXRCDFile"}

// Each structure has the size and the offsets of its C structure, and each field is named
// as its member, or has the name in a tag.
func TestStructures(t *testing.T) {
	h := readHeaders(t, recorded, newer)
	for _, s := range readSource(t).structures {
		t.Run(s.name, func(t *testing.T) {
			whole, ok := h.members[s.c]
			switch {
			case slices.Contains(withoutHeader, s.name):
			case !ok:
				t.Errorf("got no C structure %q", s.c)
			default:
				size := s.size
				for _, f := range s.fields {
					want, ok := h.find(s.c, f)
					if ok && want.size == 0 { // an array that the request or reply decides
						size, want.size = f.offset, f.size
					}
					if !ok || want.offset-whole.offset != f.offset || want.size != f.size {
						t.Errorf("%s: got offset %d, size %d, the C structure has %+v", f.name, f.offset, f.size, want)
					}
				}
				if whole.size != size && !(s.isHead && whole.size > size) {
					t.Errorf("got size %d, %s has %d", size, s.c, whole.size)
				}
			}
		})
	}
}

// find returns the members of a structure that a field contains.
func (h headers) find(c string, f field) (m member, ok bool) {
	if f.c == "" {
		for path, m := range h.members {
			if name, ok := strings.CutPrefix(path, c+"."); ok && strings.EqualFold(strings.ReplaceAll(name, "_", ""), f.name) {
				return m, true
			}
		}
		return m, false
	}
	end := int64(0)
	for i, name := range strings.Split(f.c, ",") {
		part, ok := h.members[c+"."+name]
		if !ok {
			return m, false
		}
		if i == 0 {
			m.offset = part.offset
		}
		end = max(end, part.offset+part.size)
	}
	m.size = end - m.offset
	return m, true
}

// Each constant has the value of its C name.
func TestNumbers(t *testing.T) {
	h := readHeaders(t, recorded, newer)
	for _, n := range readSource(t).numbers {
		t.Run(n.name, func(t *testing.T) {
			want, ok := h.numbers[n.c]
			if m, isSize := h.members[n.c]; isSize {
				want, ok = uint64(m.size), true
			}
			switch {
			case slices.Contains(withoutName, n.name), n.c == "" && (!token.IsExported(n.name) || strings.HasSuffix(n.name, "Size")):
			case !ok:
				t.Errorf("got C name %q, which no header declares", n.c)
			case strings.Contains(n.c, "_EX_CMD_") && n.value == want|CmdExtended:
			case n.value != want:
				t.Errorf("got %d, %s is %d", n.value, n.c, want)
			}
		})
	}
}

// Numbers of requests contain the size of the argument.
func TestIoctls(t *testing.T) {
	h := readHeaders(t, recorded)
	for name, got := range map[string]uintptr{"IB_USER_MAD_REGISTER_AGENT2": UMADRegisterAgent, "RDMA_VERBS_IOCTL": VerbsIoctl} {
		if uint64(got) != h.numbers[name] {
			t.Errorf("%s: got %#x, want %#x", name, got, h.numbers[name])
		}
	}
}
