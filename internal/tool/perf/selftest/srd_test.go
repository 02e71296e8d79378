package selftest

import (
	"slices"
	"testing"

	"github.com/ibkit/ibkit/internal/uverbs/uverbstest"
	"github.com/ibkit/ibkit/verbs"
)

// TestSRD checks the cases of SRD: all sizes up to the limit of a message, larger writes and
// reads, and no connections, atomics or shared receive queues.
func TestSRD(t *testing.T) {
	r, _ := on(t, uverbstest.NoDefect)
	r.port.Attr.MaxMsgSize = 8928
	var names []string
	for _, cases := range [][]testCase{r.operations(verbs.QPTypeSRD), r.queues(verbs.QPTypeSRD), r.errors(verbs.QPTypeSRD)} {
		for _, c := range cases {
			names = append(names, c.name)
			largest := 0
			if len(c.sizes) > 0 {
				largest = slices.Max(c.sizes)
			}
			if want := map[string]int{"send": 8928, "send with immediate": 8928, "write": 1 << 20, "write with immediate": 1 << 20, "read": 1 << 20}[c.name]; want > 0 && largest != want {
				t.Errorf("%s: got up to %d bytes, want %d", c.name, largest, want)
			}
		}
	}
	if want := []string{
		"send", "send with immediate", "write", "write with immediate", "read", "inline send",
		"several SGEs", "full queues", "5000 messages in a ring of 64", "4 queue pairs, one completion queue", "rejected work requests",
		"completion events", "solicited events", "flush", "flush of receives in the error state",
		"error: wrong Q_Key", "error: receiver in the state RESET", "error: RNR retries exceeded", "error: write, wrong rkey", "error: read, wrong rkey",
		"error: write past the end of a region", "error: read past the end of a region", "error: write, region without remote write",
		"error: read, region without remote read", "error: send, wrong lkey", "error: write past the end of the local region",
		"error: read into a region without local write",
	}; !slices.Equal(names, want) {
		t.Errorf("got cases %q, want %q", names, want)
	}
	for _, c := range r.all() {
		if c.group == "srd" {
			t.Errorf("got case %s %s on Soft-RoCE", c.group, c.name)
		}
	}
}

// TestRetire checks that completions over SRD may have any order, but each ID only once.
func TestRetire(t *testing.T) {
	for name, test := range map[string]struct {
		kind verbs.QPType
		ids  []uint64 // completions of work requests 5, 6, 7 and 8
		rest []uint64 // nil: an error
	}{
		"srd in order":  {verbs.QPTypeSRD, []uint64{5, 6, 7}, []uint64{8}},
		"srd reordered": {verbs.QPTypeSRD, []uint64{8, 5, 7}, []uint64{6}},
		"srd twice":     {verbs.QPTypeSRD, []uint64{8, 8}, nil},
		"srd unknown":   {verbs.QPTypeSRD, []uint64{9}, nil},
		"rc in order":   {verbs.QPTypeRC, []uint64{5, 6, 7, 8}, []uint64{}},
		"rc reordered":  {verbs.QPTypeRC, []uint64{5, 7}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := on(t, uverbstest.NoDefect)
			err := r.with(config{kind: verbs.QPTypeRC}, func(s *session) error {
				s.kind = test.kind
				var all []verbs.Completion
				for _, id := range test.ids {
					all = append(all, verbs.Completion{ID: id, QPN: s.a.Number()})
				}
				rest, err := s.retire(s.a, all, []uint64{5, 6, 7, 8}, verbs.StatusOK)
				if (err != nil) != (test.rest == nil) || err == nil && !slices.Equal(rest, test.rest) {
					t.Errorf("got %d pending, error %v, want %d", rest, err, test.rest)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
