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
)

// rtt is how long an answer takes in these tests, and patience how long one may.
const (
	rtt      = 100 * time.Microsecond
	patience = 10 * time.Millisecond
)

// pingOne pings one target through a fake port and returns what became of the
// probes, in the order in which that was known.
func pingOne(t *testing.T, target *Target, o Options, onSend func(f *pingFake, n int, m umad.Message) error) (r *Result, outcomes []string, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.OUI, o.Timeout = OUI, patience
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
		r, err = Run(t.Context(), newPingFake(onSend), []*Target{target}, o)
	})
	return r, outcomes, err
}

// TestOutcomes has each thing happen that can become of a probe, and looks for it
// under its name.
func TestOutcomes(t *testing.T) {
	answer := func(change func(m *umad.Message)) func(*pingFake, int, umad.Message) error {
		return func(f *pingFake, _ int, m umad.Message) error {
			a := answerOf(m)
			change(&a)
			f.arrive(rtt, a)
			return nil
		}
	}
	for name, test := range map[string]struct {
		via    Via
		guid   ib.GUID
		count  int
		every  time.Duration
		onSend func(f *pingFake, n int, m umad.Message) error
		want   string
		stats  Stats // without times
		stray  int
	}{
		"answered": {
			onSend: answer(func(*umad.Message) {}),
			want:   "0 received 100µs from host",
			stats:  Stats{Sent: 1, Received: 1},
		},
		"answered by infiniband-diags": {
			onSend: func(f *pingFake, _ int, m umad.Message) error {
				f.arrive(rtt, ibpingAnswerOf(m, "host.(none)"))
				return nil
			},
			want:  "0 received 100µs from host.(none)",
			stats: Stats{Sent: 1, Received: 1},
		},
		"silent": {
			onSend: func(*pingFake, int, umad.Message) error { return nil },
			want:   "0 lost",
			stats:  Stats{Sent: 1, Lost: 1, Silent: 1},
		},
		"given back by the kernel": {
			onSend: func(f *pingFake, _ int, m umad.Message) error { f.arrive(time.Millisecond, returned(m)); return nil },
			want:   "0 lost",
			stats:  Stats{Sent: 1, Lost: 1, Silent: 1},
		},
		"dead during the run": {
			count: 5,
			onSend: func(f *pingFake, n int, m umad.Message) error {
				if n < 2 {
					f.arrive(rtt, answerOf(m))
				}
				return nil
			},
			want:  "0 received 100µs from host, 1 received 100µs from host, 2 lost, 3 lost, 4 lost",
			stats: Stats{Sent: 5, Received: 2, Lost: 3, Silent: 3},
		},
		"late": {
			count: 2,
			onSend: func(f *pingFake, n int, m umad.Message) error {
				f.arrive(rtt+time.Duration(1-n)*patience, answerOf(m))
				return nil
			},
			want:  "0 lost, 0 late 10.1ms from host, 1 received 100µs from host",
			stats: Stats{Sent: 2, Received: 1, Lost: 1, Late: 1},
		},
		"twice": {
			count: 2,
			every: patience,
			onSend: func(f *pingFake, n int, m umad.Message) error {
				f.arrive(rtt, answerOf(m))
				if n == 0 {
					f.arrive(2*rtt, answerOf(m))
				}
				return nil
			},
			want:  "0 received 100µs from host, 0 duplicated 200µs from host, 1 received 100µs from host",
			stats: Stats{Sent: 2, Received: 2, Duplicated: 1},
		},
		"late and twice": {
			count: 2,
			every: 2 * patience,
			onSend: func(f *pingFake, n int, m umad.Message) error {
				if n == 0 {
					f.arrive(patience+rtt, answerOf(m))
					f.arrive(patience+2*rtt, answerOf(m))
				} else {
					f.arrive(rtt, answerOf(m))
				}
				return nil
			},
			want:  "0 lost, 0 late 10.1ms from host, 0 duplicated 10.2ms from host, 1 received 100µs from host",
			stats: Stats{Sent: 2, Received: 1, Lost: 1, Late: 1, Duplicated: 1},
		},
		"twice at the end": {
			onSend: func(f *pingFake, _ int, m umad.Message) error {
				f.arrive(rtt, answerOf(m))
				f.arrive(rtt, answerOf(m))
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
		"request sent back": {
			onSend: answer(func(m *umad.Message) { m.MAD.Data()[offEchoKind] = echoRequest }),
			want:   "0 corrupted 100µs from host",
			stats:  Stats{Sent: 1, Corrupted: 1},
		},
		"name damaged": {
			count: 2,
			onSend: func(f *pingFake, n int, m umad.Message) error {
				f.arrive(rtt, ibpingAnswerOf(m, []string{"host", "hXst"}[n]))
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
		"for another vendor": {
			onSend: answer(func(m *umad.Message) { putOUI(m.MAD[offOUI:], OUI+1) }),
			want:   "0 wrong OUI 100µs",
			stats:  Stats{Sent: 1, WrongOUI: 1},
		},
		"from another port": {
			onSend: answer(func(m *umad.Message) { m.Addr.LID++ }),
			want:   "0 wrong source 100µs",
			stats:  Stats{Sent: 1, WrongSource: 1},
		},
		"from another host": {
			count: 2,
			onSend: func(f *pingFake, n int, m umad.Message) error {
				a := answerOf(m)
				copy(a.MAD.Data(), []string{"host", "else"}[n])
				f.arrive(rtt, a)
				return nil
			},
			want:  "0 received 100µs from host, 1 wrong source 100µs from else",
			stats: Stats{Sent: 2, Received: 1, WrongSource: 1},
		},
		"from another node": {
			via:   ViaSMA,
			count: 2,
			onSend: func(f *pingFake, n int, m umad.Message) error {
				f.arrive(rtt, agentAnswerOf(m, []ib.GUID{7, 9}[n]))
				return nil
			},
			want:  "0 received 100µs, 1 wrong source 100µs",
			stats: Stats{Sent: 2, Received: 1, WrongSource: 1},
		},
		"from a port that is not meant": {
			via:  ViaSMA,
			guid: 7,
			onSend: func(f *pingFake, _ int, m umad.Message) error {
				f.arrive(rtt, agentAnswerOf(m, 7))
				return nil
			},
			want:  "0 wrong source 100µs",
			stats: Stats{Sent: 1, WrongSource: 1},
		},
		"no node type": {
			via: ViaSMA,
			onSend: func(f *pingFake, _ int, m umad.Message) error {
				a := agentAnswerOf(m, 7)
				a.MAD.Data()[2] = 0
				f.arrive(rtt, a)
				return nil
			},
			want:  "0 corrupted 100µs",
			stats: Stats{Sent: 1, Corrupted: 1},
		},
		"node GUID 0": {
			via: ViaSMA,
			onSend: func(f *pingFake, _ int, m umad.Message) error {
				f.arrive(rtt, agentAnswerOf(m, 0))
				return nil
			},
			want:  "0 received 100µs",
			stats: Stats{Sent: 1, Received: 1},
		},
		"refused": {
			via: ViaPMA,
			onSend: func(f *pingFake, _ int, m umad.Message) error {
				a := agentAnswerOf(m, 7)
				a.MAD.SetStatus(0x1c)
				f.arrive(rtt, a)
				return nil
			},
			want:  "0 refused 100µs",
			stats: Stats{Sent: 1, Refused: 1},
		},
		"no way": {
			count:  2,
			onSend: func(*pingFake, int, umad.Message) error { return fmt.Errorf("send MAD: %w", syscall.EHOSTUNREACH) },
			want:   "0 unreachable, 1 unreachable",
			stats:  Stats{Sent: 2, Unreachable: 2, Silent: 2},
		},
		"no room at first": {
			onSend: func(f *pingFake, n int, m umad.Message) error {
				if n < 3 {
					return umad.ErrWouldBlock
				}
				f.arrive(rtt, answerOf(m))
				return nil
			},
			want:  "0 received 100µs from host",
			stats: Stats{Sent: 1, Received: 1},
		},
		"what nobody asked": {
			onSend: func(f *pingFake, _ int, m umad.Message) error {
				a := answerOf(m)
				a.MAD.SetTID(a.MAD.TID() + 5000) // of no probe
				f.arrive(rtt/2, a)
				f.arrive(rtt/2, m) // no response
				f.arrive(rtt, answerOf(m))
				return nil
			},
			want:  "0 received 100µs from host",
			stats: Stats{Sent: 1, Received: 1},
			stray: 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			target := &Target{Via: test.via, To: umad.Target{LID: 7}, PortGUID: test.guid}
			o := Options{Count: max(test.count, 1), Interval: test.every, Payload: []byte("payload")}
			r, outcomes, err := pingOne(t, target, o, test.onSend)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(outcomes, ", "); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
			for _, s := range []*Stats{&target.Stats, &r.Total} {
				if got := s.counts(); got != test.stats.counts() {
					t.Errorf("counted %+v\nwant    %+v", got, test.stats.counts())
				}
			}
			if r.Stray != test.stray {
				t.Errorf("%d strays", r.Stray)
			}
		})
	}
}

// counts returns s without times.
func (s *Stats) counts() [11]int {
	return [...]int{
		s.Sent, s.Received, s.Lost, s.Refused, s.Corrupted, s.WrongOUI, s.WrongSource, s.Unreachable, s.Late, s.Duplicated, s.Silent,
	}
}
