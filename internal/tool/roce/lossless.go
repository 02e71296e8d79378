package roce

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/dcbnl"
	"github.com/ibkit/ibkit/report"
)

// shared returns the other priorities without flow control that have the same value as a
// priority.
func (s *NetdevSettings) shared(values [dcbnl.Priorities]uint8, priority int) []int {
	return slices.DeleteFunc(prioritiesOf(values, int(values[priority])), func(p int) bool { return slices.Contains(s.PFC, p) })
}

// unused returns a number without a priority, or -1.
func unused(values [dcbnl.Priorities]uint8) int {
	for n := range dcbnl.Priorities {
		if !slices.Contains(values[:], uint8(n)) {
			return n
		}
	}
	return -1
}

// buffers checks that priorities with flow control have a receive buffer of their own.
func (j *judge) buffers(l *NetdevSettings) {
	b := l.bridging.Buffers
	if b == nil {
		return
	}
	for _, p := range l.PFC {
		n := int(b.Buffer[p])
		if n >= len(b.Size) {
			continue
		}
		others, free, half := l.shared(b.Buffer, p), unused(b.Buffer), b.Size[n]/2
		m := Mismatch{Kind: report.RoCEBuffer, Hint: "the sizes are a start: a buffer needs room for the packets on the cable after a pause"}
		switch {
		case b.Size[n] == 0:
			m.Found, m.Why = fmt.Sprintf("priority %d has buffer %d, with 0 bytes", p, n), "packets are lost before a pause can be sent"
			if rest := b.Total / 2; rest > 0 {
				m.Fix = []string{fmt.Sprintf("dcb buffer set dev %s buffer-size %d:%d", word(l), n, rest)}
			}
		case len(others) > 0:
			m.Found = fmt.Sprintf("priority %d has buffer %d together with priority %s, without flow control", p, n, list(others))
			m.Why = "other traffic fills the buffer of RoCE, and RoCE is paused for it"
			if free >= 0 {
				m.Fix = []string{fmt.Sprintf("dcb buffer set dev %s prio-buffer %d:%d buffer-size %d:%d %d:%d", word(l), p, free, n, b.Size[n]-half, free, half)}
			}
		default:
			continue
		}
		j.add(l, m)
	}
}

// queues checks that priorities with flow control have a traffic class of their own, with a
// share of the bandwidth.
func (j *judge) queues(l *NetdevSettings) {
	e := l.bridging.ETS
	if e == nil {
		return
	}
	for _, p := range l.PFC {
		n := int(e.Class[p])
		if n >= len(e.Share) {
			continue
		}
		m := Mismatch{Kind: report.RoCEQueue}
		switch others, free := l.shared(e.Class, p), unused(e.Class); {
		case len(others) > 0:
			m.Found = fmt.Sprintf("priority %d has queue %d together with priority %s, without flow control", p, n, list(others))
			m.Why, m.Hint = "a pause of RoCE stops other traffic too, and other traffic delays RoCE", "RoCE needs a traffic class of its own, with a share of the bandwidth"
			if free >= 0 {
				m.Fix = []string{fmt.Sprintf("dcb ets set dev %s prio-tc %d:%d", word(l), p, free)}
			}
		case e.Algorithm[n] == dcbnl.Shared && e.Share[n] == 0:
			m.Found = fmt.Sprintf("priority %d has queue %d, with 0 %% of the bandwidth", p, n)
			m.Why = "other traffic delays RoCE without limit"
			m.Hint = fmt.Sprintf("shares of all queues must sum to 100: dcb ets set dev %s tc-bw %d:50 and so on", word(l), n)
		default:
			continue
		}
		j.add(l, m)
	}
}

// notifications checks that adapters request and obey congestion notifications for RoCE.
func (j *judge) notifications(l *NetdevSettings) {
	if code, err := strconv.Atoi(j.port.Parameters["np_cnp_dscp"]); err == nil {
		if p, mapped := l.DSCP[strconv.Itoa(code)]; mapped && slices.Contains(l.PFC, int(p)) {
			j.add(l, Mismatch{
				Kind: report.RoCEECN, Severity: report.Info, Found: fmt.Sprintf("congestion notifications have DSCP %d, priority %d, with flow control", code, p),
				Why: "a pause delays the notifications that would end it", Hint: "use a DSCP with another priority, 48 is common",
			})
		}
	}
	if l.Notify == nil || l.React == nil {
		return
	}
	for _, p := range l.losslessInUse() {
		var off, fix []string
		for _, role := range []struct {
			name, file string
			on         []int
		}{{"receiver", "np", l.Notify}, {"sender", "rp", l.React}} {
			if !slices.Contains(role.on, p) {
				off = append(off, role.name)
				fix = append(fix, fmt.Sprintf("echo 1 >/sys/class/net/%s/ecn/roce_%s/enable/%d", word(l), role.file, p))
			}
		}
		if off != nil {
			j.add(l, Mismatch{
				Kind: report.RoCEECN, Found: fmt.Sprintf("congestion notifications (ECN) are off as %s for priority %d", strings.Join(off, " and "), p),
				Why: "senders do not slow down, and PFC pauses whole links instead", Fix: fix,
			})
		}
	}
}

// losslessInUse returns the priorities with flow control that a traffic class of the port
// has, otherwise all.
func (s *NetdevSettings) losslessInUse() []int {
	var used []int
	for _, m := range s.Markings {
		if m.PFC != nil && *m.PFC && !slices.Contains(used, int(*m.Priority)) {
			used = append(used, int(*m.Priority))
		}
	}
	if used == nil {
		return s.PFC
	}
	return used
}

// peer compares flow control with the other end of the cable.
func (j *judge) peer(l *NetdevSettings) {
	if l.PeerPFC == nil || slices.Equal(l.PFC, l.PeerPFC) || len(l.PFC)+len(l.PeerPFC) == 0 {
		return
	}
	parts := []string{"all:off"}
	for _, p := range l.PeerPFC {
		parts = append(parts, fmt.Sprintf("%d:on", p))
	}
	j.add(l, Mismatch{
		Kind: report.RoCEPeer, Found: fmt.Sprintf("PFC is on for priority %s, at the peer for priority %s", none(l.PFC), none(l.PeerPFC)),
		Why:  "an end ignores the pauses of the other, and packets are lost",
		Fix:  []string{fmt.Sprintf("dcb pfc set dev %s prio-pfc %s", word(l), strings.Join(parts, " "))},
		Hint: "or change the switch port",
	})
}

func none(numbers []int) string {
	if len(numbers) == 0 {
		return "none"
	}
	return list(numbers)
}

// flowControl describes PFC.
func (s *NetdevSettings) flowControl() string {
	var sent, received uint64
	for p := range dcbnl.Priorities {
		sent, received = sent+s.bridging.Requests[p], received+s.bridging.Indications[p]
	}
	return fmt.Sprintf("PFC on priority %s, %d pauses sent, %d received", list(s.PFC), sent, received)
}

// String returns the settings in one line.
func (s *NetdevSettings) String() string {
	parts := []string{s.Netdev + ": " + s.flowControl()}
	if codes := s.losslessCodes(); codes != nil {
		parts = append(parts, "DSCP "+list(codes))
	}
	for _, f := range []struct {
		name  string
		value *string
	}{{"trust", s.Trust}, {"DCBX", s.DCBX}} {
		if f.value != nil {
			parts = append(parts, f.name+" "+*f.value)
		}
	}
	if s.Notify != nil || s.React != nil {
		parts = append(parts, fmt.Sprintf("ECN np %s, rp %s", none(s.Notify), none(s.React)))
	}
	for _, m := range s.Markings {
		parts = append(parts, m.String())
	}
	return strings.Join(parts, "; ")
}
