package roce

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ibkit/ibkit/internal/optional"
	"github.com/ibkit/ibkit/report"
)

// bond compares the network devices below a bond.
func (j *judge) bond() {
	var first *NetdevSettings
	for _, l := range j.port.Links {
		if l.bridging == nil {
			continue
		}
		if first == nil {
			first = l
			continue
		}
		if differences := first.differences(l); differences != nil {
			j.add(nil, Mismatch{
				Kind: report.RoCEBond, Found: fmt.Sprintf("%s and %s of the bond differ in %s", first.Netdev, l.Netdev, strings.Join(differences, ", ")),
				Why: "half of the connections lose packets or are slow, depending on the device that the bond selects", Hint: "configure both like " + first.Netdev,
			})
		}
	}
}

// differences returns the names of settings that differ.
func (s *NetdevSettings) differences(t *NetdevSettings) []string {
	var names []string
	for _, c := range []struct {
		name string
		same bool
	}{
		{"PFC", slices.Equal(s.PFC, t.PFC)},
		{"DSCP", fmt.Sprint(s.DSCP) == fmt.Sprint(t.DSCP)},
		{"trust", optional.OrZero(s.Trust) == optional.OrZero(t.Trust)},
		{"ECN", slices.Equal(s.Notify, t.Notify) && slices.Equal(s.React, t.React)},
		{"buffers", fmt.Sprint(s.Buffers) == fmt.Sprint(t.Buffers)},
		{"queues", fmt.Sprint(s.Classes) == fmt.Sprint(t.Classes)},
	} {
		if !c.same {
			names = append(names, c.name)
		}
	}
	return names
}
