package ping

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// pingOne pings a target and returns the outcomes in the order in which they were reported.
func pingOne(t *testing.T, target *Target, o Options, f fate) (r *Result, outcomes []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.OUI, o.Timeout = OUI, timeout
		o.Done = func(p *Probe) {
			s := fmt.Sprintf("%d %v", p.Seq, p.Outcome)
			if p.RTT > 0 {
				s += " " + p.RTT.String()
			}
			if len(p.Host) > 0 {
				s += " from " + string(p.Host)
			}
			outcomes = append(outcomes, s)
		}
		r, err = Run(t.Context(), newPort(f), []*Target{target}, o)
	})
	return r, outcomes, err
}

// TestRun_Outcomes checks the outcome and the statistics for each type of reply.
func TestRun_Outcomes(t *testing.T) {
	answer := func(change func(m *umad.Message)) fate {
		return func(p *umadtest.Port, _ int, m umad.Message) error {
			a := serverReply(m)
			change(&a)
			p.Deliver(roundTrip, a)
			return nil
		}
	}
	for name, tt := range map[string]struct {
		agent  Agent
		guid   ib.GUID
		count  int
		every  time.Duration
		onSend fate
		want   string
		stats  Stats // without times
		stray  int
	}{
		"valid reply": {
			onSend: answer(func(*umad.Message) {}),
			want:   "0 received 100µs from host",
			stats:  Stats{Sent: 1, Received: 1},
		},
		"reply of infiniband-diags": {
			onSend: func(p *umadtest.Port, _ int, m umad.Message) error {
				p.Deliver(roundTrip, ibpingReply(m, "host.(none)"))
				return nil
			},
			want:  "0 received 100µs from host.(none)",
			stats: Stats{Sent: 1, Received: 1},
		},
		"no reply": {
			onSend: func(*umadtest.Port, int, umad.Message) error { return nil },
			want:   "0 lost",
			stats:  Stats{Sent: 1, Lost: 1, Silent: 1},
		},
		"returned by the kernel": {
			onSend: func(p *umadtest.Port, _ int, m umad.Message) error {
				p.Deliver(time.Millisecond, umadtest.Returned(m))
				return nil
			},
			want:  "0 lost",
			stats: Stats{Sent: 1, Lost: 1, Silent: 1},
		},
		"no reply any more": {
			count: 5,
			onSend: func(p *umadtest.Port, n int, m umad.Message) error {
				if n < 2 {
					p.Deliver(roundTrip, serverReply(m))
				}
				return nil
			},
			want:  "0 received 100µs from host, 1 received 100µs from host, 2 lost, 3 lost, 4 lost",
			stats: Stats{Sent: 5, Received: 2, Lost: 3, Silent: 3},
		},
		"late reply": {
			count: 2,
			onSend: func(p *umadtest.Port, n int, m umad.Message) error {
				p.Deliver(roundTrip+time.Duration(1-n)*timeout, serverReply(m))
				return nil
			},
			want:  "0 lost, 0 late 10.1ms from host, 1 received 100µs from host",
			stats: Stats{Sent: 2, Received: 1, Lost: 1, Late: 1},
		},
		"duplicate reply": {
			count: 2,
			every: timeout,
			onSend: func(p *umadtest.Port, n int, m umad.Message) error {
				p.Deliver(roundTrip, serverReply(m))
				if n == 0 {
					p.Deliver(2*roundTrip, serverReply(m))
				}
				return nil
			},
			want:  "0 received 100µs from host, 0 duplicated 200µs from host, 1 received 100µs from host",
			stats: Stats{Sent: 2, Received: 2, Duplicated: 1},
		},
		"late and duplicate reply": {
			count: 2,
			every: 2 * timeout,
			onSend: func(p *umadtest.Port, n int, m umad.Message) error {
				if n == 0 {
					p.Deliver(timeout+roundTrip, serverReply(m))
					p.Deliver(timeout+2*roundTrip, serverReply(m))
				} else {
					p.Deliver(roundTrip, serverReply(m))
				}
				return nil
			},
			want:  "0 lost, 0 late 10.1ms from host, 0 duplicated 10.2ms from host, 1 received 100µs from host",
			stats: Stats{Sent: 2, Received: 1, Lost: 1, Late: 1, Duplicated: 1},
		},
		"duplicate reply at the end": {
			onSend: func(p *umadtest.Port, _ int, m umad.Message) error {
				p.Deliver(roundTrip, serverReply(m))
				p.Deliver(roundTrip, serverReply(m))
				return nil
			},
			want:  "0 received 100µs from host, 0 duplicated 100µs from host",
			stats: Stats{Sent: 1, Received: 1, Duplicated: 1},
		},
		"payload damaged": {
			onSend: answer(func(m *umad.Message) { m.MAD.Data()[offEchoPayload+1] ^= 1 }),
			want:   "0 corrupted 100µs from host",
			stats:  Stats{Sent: 1, Corrupted: 1},
		},
		"ID damaged": {
			onSend: answer(func(m *umad.Message) { m.MAD.Data()[offEchoID] ^= 1 }),
			want:   "0 corrupted 100µs from host",
			stats:  Stats{Sent: 1, Corrupted: 1},
		},
		"request returned": {
			onSend: answer(func(m *umad.Message) { m.MAD.Data()[offEchoKind] = echoRequest }),
			want:   "0 corrupted 100µs from host",
			stats:  Stats{Sent: 1, Corrupted: 1},
		},
		"name damaged": {
			count: 2,
			onSend: func(p *umadtest.Port, n int, m umad.Message) error {
				p.Deliver(roundTrip, ibpingReply(m, []string{"host", "hXst"}[n]))
				return nil
			},
			want:  "0 received 100µs from host, 1 corrupted 100µs from hXst",
			stats: Stats{Sent: 2, Received: 1, Corrupted: 1},
		},
		"other attribute": {
			onSend: answer(func(m *umad.Message) { m.MAD[17] = 1 }),
			want:   "0 corrupted 100µs",
			stats:  Stats{Sent: 1, Corrupted: 1},
		},
		"other OUI": {
			onSend: answer(func(m *umad.Message) { m.MAD.SetOUI(OUI + 1) }),
			want:   "0 wrong OUI 100µs",
			stats:  Stats{Sent: 1, WrongOUI: 1},
		},
		"other port": {
			onSend: answer(func(m *umad.Message) { m.Addr.LID++ }),
			want:   "0 wrong source 100µs",
			stats:  Stats{Sent: 1, WrongSource: 1},
		},
		"other host": {
			count: 2,
			onSend: func(p *umadtest.Port, n int, m umad.Message) error {
				a := serverReply(m)
				copy(a.MAD.Data(), []string{"host", "else"}[n])
				p.Deliver(roundTrip, a)
				return nil
			},
			want:  "0 received 100µs from host, 1 wrong source 100µs from else",
			stats: Stats{Sent: 2, Received: 1, WrongSource: 1},
		},
		"other node": {
			agent: AgentSMA,
			count: 2,
			onSend: func(p *umadtest.Port, n int, m umad.Message) error {
				p.Deliver(roundTrip, agentReply(m, []ib.GUID{7, 9}[n]))
				return nil
			},
			want:  "0 received 100µs, 1 wrong source 100µs",
			stats: Stats{Sent: 2, Received: 1, WrongSource: 1},
		},
		"other port GUID": {
			agent: AgentSMA,
			guid:  7,
			onSend: func(p *umadtest.Port, _ int, m umad.Message) error {
				p.Deliver(roundTrip, agentReply(m, 7))
				return nil
			},
			want:  "0 wrong source 100µs",
			stats: Stats{Sent: 1, WrongSource: 1},
		},
		"no node type": {
			agent: AgentSMA,
			onSend: func(p *umadtest.Port, _ int, m umad.Message) error {
				a := agentReply(m, 7)
				a.MAD.Data()[2] = 0
				p.Deliver(roundTrip, a)
				return nil
			},
			want:  "0 corrupted 100µs",
			stats: Stats{Sent: 1, Corrupted: 1},
		},
		"node GUID 0": {
			agent: AgentSMA,
			onSend: func(p *umadtest.Port, _ int, m umad.Message) error {
				p.Deliver(roundTrip, agentReply(m, 0))
				return nil
			},
			want:  "0 received 100µs",
			stats: Stats{Sent: 1, Received: 1},
		},
		"refused": {
			agent: AgentPMA,
			onSend: func(p *umadtest.Port, _ int, m umad.Message) error {
				a := agentReply(m, 7)
				a.MAD.SetStatus(0x1c)
				p.Deliver(roundTrip, a)
				return nil
			},
			want:  "0 refused 100µs",
			stats: Stats{Sent: 1, Refused: 1},
		},
		"unreachable": {
			count:  2,
			onSend: func(*umadtest.Port, int, umad.Message) error { return fmt.Errorf("send MAD: %w", syscall.EHOSTUNREACH) },
			want:   "0 unreachable, 1 unreachable",
			stats:  Stats{Sent: 2, Unreachable: 2, Silent: 2},
		},
		"port without room": {
			onSend: func(p *umadtest.Port, n int, m umad.Message) error {
				if n < 3 {
					return umad.ErrWouldBlock
				}
				p.Deliver(roundTrip, serverReply(m))
				return nil
			},
			want:  "0 received 100µs from host",
			stats: Stats{Sent: 1, Received: 1},
		},
		"stray packets": {
			onSend: func(p *umadtest.Port, _ int, m umad.Message) error {
				a := serverReply(m)
				a.MAD.SetTID(a.MAD.TID() + 5000) // for another request
				p.Deliver(roundTrip/2, a)
				p.Deliver(roundTrip/2, m) // not a response
				p.Deliver(roundTrip, serverReply(m))
				return nil
			},
			want:  "0 received 100µs from host",
			stats: Stats{Sent: 1, Received: 1},
			stray: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			target := &Target{Agent: tt.agent, To: umad.Target{LID: 7}, PortGUID: tt.guid}
			o := Options{Count: max(tt.count, 1), Interval: tt.every, Payload: []byte("payload")}
			r, outcomes, err := pingOne(t, target, o, tt.onSend)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(outcomes, ", "); got != tt.want {
				t.Errorf("outcomes:\ngot  %s\nwant %s", got, tt.want)
			}
			for _, s := range []*Stats{&target.Stats, &r.Total} {
				if got := s.counts(); got != tt.stats.counts() {
					t.Errorf("statistics:\ngot  %+v\nwant %+v", got, tt.stats.counts())
				}
			}
			if r.Stray != tt.stray {
				t.Errorf("stray packets: got %d, want %d", r.Stray, tt.stray)
			}
		})
	}
}

// counts returns the counts from s.
func (s *Stats) counts() [11]int {
	return [...]int{
		s.Sent, s.Received, s.Lost, s.Refused, s.Corrupted, s.WrongOUI, s.WrongSource, s.Unreachable, s.Late, s.Duplicated, s.Silent,
	}
}
