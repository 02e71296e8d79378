package sim

import (
	"math"
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/testenv"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// perf sends a performance management request to a LID and decodes the reply into a.
func perf(t *testing.T, p umad.Port, lid ib.LID, method mad.Method, a mad.Attribute) mad.Status {
	t.Helper()
	m := umad.Message{Addr: umad.Addr{LID: lid, QPN: 1}}
	m.MAD.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassPM, ClassVersion: 1, Method: method, Attr: a.Spec().ID})
	if err := mad.Encode(a, m.MAD.Data()); err != nil {
		t.Fatal(err)
	}
	if err := p.Send(&m); err != nil {
		t.Fatal(err)
	}
	if err := p.Recv(&m, time.Now().Add(testenv.WaitLimit)); err != nil {
		t.Fatal(err)
	}
	if m.MAD.Method() != mad.MethodGetResp {
		t.Errorf("got method %v, want GetResp", m.MAD.Method())
	}
	if err := m.MAD.Decode(a); err != nil {
		t.Fatal(err)
	}
	return m.MAD.Status()
}

// selecting returns a selection with a port and some counters.
func selecting(port uint8, mask uint16) mad.PortSelection {
	return mad.PortSelection{PortSelect: port, CounterSelect: mask}
}

// openPerf returns a fabric with three hosts on a switch with LID 1, the switch, and a port
// to send from.
func openPerf(t *testing.T) (*Fabric, *Node, umad.Port) {
	t.Helper()
	f := build(t, "single-switch:hosts=3")
	p, err := f.Open("")
	if err != nil {
		t.Fatal(err)
	}
	s := f.Node("switch1")
	return f, s, p
}

func count(t *testing.T, f *Fabric, p *Port, name string, value uint64) {
	t.Helper()
	if err := f.SetCounter(p, name, value); err != nil {
		t.Fatal(err)
	}
}

// TestCounters_Limits checks that counters in PortCounters stop at their largest value and
// that 64-bit counters wrap around.
func TestCounters_Limits(t *testing.T) {
	f, s, p := openPerf(t)
	lid := s.Ports[0].Info.LID
	for name, value := range map[string]uint64{
		"SymbolErrorCounter": 0xffff, "LinkDownedCounter": 0xfe, "LocalLinkIntegrityErrors": 0xf,
		"PortXmitData": math.MaxUint64, "portxmitwait": 1 << 33,
	} {
		count(t, f, &s.Ports[1], name, value)
	}
	for _, name := range []string{"SymbolErrorCounter", "LinkDownedCounter", "LinkDownedCounter", "LocalLinkIntegrityErrors", "PortXmitData"} {
		if err := f.AddCounter(&s.Ports[1], name, 1); err != nil {
			t.Fatal(err)
		}
	}
	got := mad.PortCounters{PortSelection: selecting(1, 0)}
	if status := perf(t, p, lid, mad.MethodGet, &got); status != 0 {
		t.Fatalf("got status %#x, want 0", status)
	}
	want := mad.PortCounters{
		PortSelection: selecting(1, 0), SymbolErrors: 0xffff, LinkDowned: 0xff, LocalLinkIntegrity: 0xf,
		XmitData: math.MaxUint32, XmitWait: math.MaxUint32,
	}
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	ext := mad.PortCountersExtended{PortSelection: selecting(1, 0)}
	perf(t, p, lid, mad.MethodGet, &ext)
	wantExt := mad.PortCountersExtended{
		PortSelection: selecting(1, 0), SymbolErrors: 0x10000, LinkDowned: 0x100, LocalLinkIntegrity: 0x10, XmitWait: 1 << 33,
	}
	if ext != wantExt {
		t.Errorf("got %+v\nwant %+v", ext, wantExt)
	}
}

// TestCounterSelect resets the counters in each attribute singly: each CounterSelect bit
// resets a single counter.
func TestCounterSelect(t *testing.T) {
	f, s, p := openPerf(t)
	lid, port := s.Ports[0].Info.LID, &s.Ports[2]
	for id, table := range allCounters().tables {
		seen := map[string]bool{}
		for bit := range 64 {
			for _, c := range table.counters {
				count(t, f, port, c.name, 1)
			}
			a := table.empty()
			mad.Visit(a, func(name string, width int, _ uint64) uint64 {
				switch {
				case name == portSelect:
					return 2
				case name == counterSelect && (bit < 16 || width == 64):
					return 1 << bit
				case name == counterSelect2 && bit >= 16 && bit < 16+width:
					return 1 << (bit - 16)
				}
				return 0
			})
			if status := perf(t, p, lid, mad.MethodSet, a); status != 0 {
				t.Fatalf("%s: got status %#x, want 0", mad.AttributeName(a), status)
			}
			left := len(table.counters)
			mad.Visit(a, func(name string, _ int, v uint64) uint64 {
				if !isSelection(name) && v == 0 {
					left--
					if seen[name] {
						t.Errorf("%s: bit %d resets %s as another bit does", mad.ClassPM.AttrName(id), bit, name)
					}
					seen[name] = true
				}
				return v
			})
			if left < len(table.counters)-1 {
				t.Errorf("%s: bit %d resets %d counters, want at most 1", mad.ClassPM.AttrName(id), bit, len(table.counters)-left)
			}
		}
		if len(seen) != len(table.counters) {
			t.Errorf("%s: got %d counters that can be reset, want %d", mad.ClassPM.AttrName(id), len(seen), len(table.counters))
		}
	}
}

// TestCounterSelect_Bits pins the bits that perfquery and ibqueryerrors use.
func TestCounterSelect_Bits(t *testing.T) {
	for _, c := range []struct {
		id   mad.AttrID
		name string
		bit  int
	}{
		{mad.AttrPortCounters, "SymbolErrorCounter", 0},
		{mad.AttrPortCounters, "ExcessiveBufferOverrunErrors", 10},
		{mad.AttrPortCounters, "VL15Dropped", 11},
		{mad.AttrPortCounters, "PortXmitData", 12},
		{mad.AttrPortCounters, "PortRcvPkts", 15},
		{mad.AttrPortCounters, "PortXmitWait", 16},
		{mad.AttrPortCounters, "QP1Dropped", 17},
		{mad.AttrPortCountersExtended, "PortXmitData", 0},
		{mad.AttrPortCountersExtended, "PortMulticastRcvPkts", 7},
		{mad.AttrPortCountersExtended, "SymbolErrorCounter", 16},
		{mad.AttrPortCountersExtended, "VL15Dropped", 27},
		{mad.AttrPortCountersExtended, "PortXmitWait", 28},
		{mad.AttrPortCountersExtended, "QP1Dropped", 29},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range allCounters().tables[c.id].counters {
				if f.name == c.name && f.bit != c.bit {
					t.Errorf("%s of %s: got bit %d, want %d", c.name, mad.ClassPM.AttrName(c.id), f.bit, c.bit)
				}
			}
		})
	}
}

// TestAllPortSelect checks that switches return sums over all ports, and adapters do not.
func TestAllPortSelect(t *testing.T) {
	f, s, p := openPerf(t)
	count(t, f, &s.Ports[1], "PortRcvErrors", 0xfff0)
	count(t, f, &s.Ports[2], "PortRcvErrors", 0x20)
	count(t, f, &s.Ports[3], "VL15Dropped", 4)
	sum := mad.PortCounters{PortSelection: selecting(mad.AllPorts, 0)}
	perf(t, p, s.Ports[0].Info.LID, mad.MethodGet, &sum)
	if sum.RcvErrors != 0xffff || sum.VL15Dropped != 4 || sum.PortSelect != mad.AllPorts {
		t.Errorf("switch: got %+v", sum)
	}
	host := f.Node("host001").Ports[1].Info.LID
	if status := perf(t, p, host, mad.MethodGet, &sum); status != mad.StatusBadValue {
		t.Errorf("adapter: got status %#x, want %#x", status, mad.StatusBadValue)
	}
	one := mad.PortCounters{PortSelection: selecting(1, 0)}
	if status := perf(t, p, host, mad.MethodGet, &one); status != 0 {
		t.Errorf("port of an adapter: got status %#x, want 0", status)
	}
	for _, port := range []uint8{0, 2} {
		one.PortSelect = port
		if status := perf(t, p, host, mad.MethodGet, &one); status != mad.StatusBadValue {
			t.Errorf("port %d of an adapter: got status %#x, want %#x", port, status, mad.StatusBadValue)
		}
	}
	if status := perf(t, p, host, mad.MethodGet, &mad.SwPortVLCongestion{PortSelection: selecting(1, 0)}); status != mad.StatusBadMethodAttr {
		t.Errorf("switch attribute of an adapter: got status %#x, want %#x", status, mad.StatusBadMethodAttr)
	}
}

// TestPerfCaps checks that an agent lacks the capabilities that it does not report.
func TestPerfCaps(t *testing.T) {
	f, s, p := openPerf(t)
	lid := s.Ports[0].Info.LID
	count(t, f, &s.Ports[1], "PortXmitWait", 5)
	count(t, f, &s.Ports[1], "SymbolErrorCounter", 6)
	count(t, f, &s.Ports[1], "PortUnicastXmitPkts", 7)
	var info mad.ClassPortInfo
	read := func() (mad.PortCounters, mad.PortCountersExtended, mad.Status) {
		perf(t, p, lid, mad.MethodGet, &info)
		a := mad.PortCounters{PortSelection: selecting(1, 0)}
		perf(t, p, lid, mad.MethodGet, &a)
		b := mad.PortCountersExtended{PortSelection: selecting(1, 0)}
		return a, b, perf(t, p, lid, mad.MethodGet, &b)
	}
	read()
	if caps, caps2 := info.PerfCaps(); caps != 0x9300 || caps2 != 2 {
		t.Errorf("got capabilities %#x, %#x, want 0x9300, 2", caps, caps2)
	}
	s.SetPerfCaps(mad.PerfExtendedWidthNoIETF, 0)
	a, b, status := read()
	if caps, caps2 := info.PerfCaps(); caps != mad.PerfExtendedWidthNoIETF || caps2 != 0 {
		t.Errorf("got capabilities %#x, %#x, want %#x, 0", caps, caps2, mad.PerfExtendedWidthNoIETF)
	}
	if a.XmitWait != 0 || a.SymbolErrors != 6 || b.SymbolErrors != 0 || b.UnicastXmitPkts != 0 || status != 0 {
		t.Errorf("got %+v\n%+v\nstatus %#x", a, b, status)
	}
	s.SetPerfCaps(0, 0)
	if _, _, status = read(); status != mad.StatusBadMethodAttr {
		t.Errorf("extended counters: got status %#x, want %#x", status, mad.StatusBadMethodAttr)
	}
}

// clocked gives a fabric a separate clock and returns a function that advances the clock.
func clocked(f *Fabric) func(time.Duration) {
	at := time.Unix(1e9, 0)
	f.clock = func() time.Time { return at }
	return func(d time.Duration) { at = at.Add(d) }
}

func read(t *testing.T, f *Fabric, p *Port, name string) uint64 {
	t.Helper()
	v, err := f.Counter(p, name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestTraffic checks that the counters at both ends of a link agree, do not depend on the
// read count, and do not change while the link is down.
func TestTraffic(t *testing.T) {
	once, often := build(t, "single-switch:hosts=3"), build(t, "single-switch:hosts=3")
	var end [2]uint64
	for i, f := range []*Fabric{once, often} {
		advance := clocked(f)
		f.Model.Load, f.Model.Uptime, f.inUse = 0.5, time.Hour, true
		p := &f.Node("host002").Ports[1]
		for range 10 {
			if f == often || f.firstLook.IsZero() {
				read(t, f, p, "PortXmitData")
			}
			advance(777 * time.Millisecond)
		}
		end[i] = read(t, f, p, "PortXmitData")
		if got := read(t, f, p.Peer, "PortRcvData"); got != end[i] || got == 0 {
			t.Errorf("got %d words received, want %d", got, end[i])
		}
		// 200 Gb/s at most.
		if rate := float64(end[i]) * 32 / 3607.77; rate > 4*53.125e9 {
			t.Errorf("got %v bit/s, want at most 4 lanes of HDR", rate)
		}

		advance(time.Second)
		peer := p.Peer
		f.Disconnect(p)
		sent := read(t, f, p, "PortXmitData")
		advance(time.Hour)
		if later := read(t, f, p, "PortXmitData"); later != sent || sent <= end[i] || read(t, f, peer, "PortRcvData") != sent {
			t.Errorf("got %d words before the link went down, %d then, %d an hour later", end[i], sent, later)
		}
		if n := read(t, f, peer, "LinkDownedCounter"); n != 1 {
			t.Errorf("got LinkDownedCounter %d, want 1", n)
		}
	}
	if end[0] != end[1] {
		t.Errorf("got %d words after one read, %d after many", end[0], end[1])
	}
}

// TestCounterRate makes an error counter grow.
func TestCounterRate(t *testing.T) {
	f, s, _ := openPerf(t)
	advance := clocked(f)
	p := &s.Ports[1]
	if err := f.SetCounterRate(p, "symbolerrorcounter", 0.5); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		advance(time.Second)
		read(t, f, p, "SymbolErrorCounter")
	}
	if n := read(t, f, p, "SymbolErrorCounter"); n != 2 {
		t.Errorf("after 5 s at 0.5 per second: got %d, want 2", n)
	}
	if err := f.SetCounterRate(p, "SymbolErrorCounter", 0); err != nil {
		t.Fatal(err)
	}
	advance(time.Minute)
	if n := read(t, f, p, "SymbolErrorCounter"); n != 2 {
		t.Errorf("after the growth was stopped: got %d, want 2", n)
	}
}

func TestSetCounter_Errors(t *testing.T) {
	f, s, _ := openPerf(t)
	p := &s.Ports[1]
	for want, err := range map[string]error{
		`set counter of "switch1"[1]: unknown counter "Moon"`:                              f.SetCounter(p, "Moon", 1),
		`set counter of "switch1"[1]: PortLoopingErrors is at most 65535, not 65536`:       f.SetCounter(p, "PortLoopingErrors", 65536),
		`set rate of counter of "switch1"[1]: -1 per second: not a number from 0 to 1e+12`: f.SetCounterRate(p, "VL15Dropped", -1),
		`add to counter of "switch1"[1]: unknown counter "PortSelect"`:                     f.AddCounter(p, "PortSelect", 1),
	} {
		t.Run(want, func(t *testing.T) {
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// TestCommands_Counters changes counters by commands.
func TestCommands_Counters(t *testing.T) {
	f, s, _ := openPerf(t)
	do := func(text string) error {
		c, err := f.ParseCommand("console", 1, text)
		if err != nil {
			return err
		}
		return f.Do(c, nil)
	}
	for _, text := range []string{
		"counter switch1[1] SymbolErrorCounter 77", "rate switch1[1] PortXmitWait 2.5", "perfcaps all 0x1200", "perfcaps switch1 0x300 2",
	} {
		if err := do(text); err != nil {
			t.Error(err)
		}
	}
	if n := read(t, f, &s.Ports[1], "SymbolErrorCounter"); n != 77 {
		t.Errorf("got SymbolErrorCounter %d, want 77", n)
	}
	if caps, caps2 := s.PerfCaps(); caps != 0x300 || caps2 != 2 {
		t.Errorf("got capabilities %#x, %#x, want 0x300, 2", caps, caps2)
	}
	for text, want := range map[string]string{
		"counter switch1[1] Moon 1":               `console:1:20: got "Moon 1", want the name of a counter, for example SymbolErrorCounter`,
		"counter switch1[1] SymbolErrorCounter x": `console:1:39: got "x", want a value, a number up to 18446744073709551615`,
		"rate switch1[1] VL15Dropped -1":          `console:1:29: got "-1", want an increase per second`,
		"perfcaps moon 1":                         `console:1:10: unknown node "moon"`,
		"perfcaps all 0x10000":                    `console:1:14: got "0x10000", want a capability mask, a number up to 65535`,
	} {
		t.Run(text, func(t *testing.T) {
			if err := do(text); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// FuzzPerf sends arbitrary requests to the agents.
func FuzzPerf(f *testing.F) {
	fabric, err := Build("single-switch:hosts=3")
	if err != nil {
		f.Fatal(err)
	}
	p := &mad.Packet{}
	f.Fuzz(func(t *testing.T, b []byte) {
		*p = mad.Packet{}
		copy(p[:], b)
		p[1] = byte(mad.ClassPM)
		for _, n := range fabric.Nodes {
			q := *p
			if answered := fabric.answerPerf(destination{node: n, entry: n.firstPort().Number}, &q); answered && q.Method() != mad.MethodGetResp {
				t.Errorf("got method %v, want GetResp", q.Method())
			}
		}
	})
}

func BenchmarkPortCounters(b *testing.B) {
	f, err := Build("single-switch:hosts=3")
	if err != nil {
		b.Fatal(err)
	}
	f.Model.Load = 0.3
	var p mad.Packet
	d := destination{node: f.Node("switch1")}
	b.ReportAllocs()
	for b.Loop() {
		p.PutGMP(mad.Header{BaseVersion: 1, Class: mad.ClassPM, ClassVersion: 1, Method: mad.MethodGet, Attr: mad.AttrPortCountersExtended})
		p.Data()[1] = 1
		if !f.answer(d, &p) {
			b.Fatal("no answer")
		}
	}
}
