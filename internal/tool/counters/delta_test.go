package counters

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

var epoch = time.Unix(1_764_000_000, 0)

// extendedSample returns a sample from a current agent after a time.
func extendedSample(after time.Duration, x mad.PortCountersExtended) *Sample {
	s := &Sample{
		Caps:  mad.PerfExtendedWidth | mad.PerfXmitWait | mad.PerfQP1Dropped,
		Caps2: mad.PerfAdditionalExtended,
	}
	s.SetExtended(&x, epoch.Add(after))
	return s
}

// basicSample returns a sample from an old agent after a time.
func basicSample(after time.Duration, b mad.PortCounters) *Sample {
	return &Sample{Basic: &b, BasicAt: epoch.Add(after)}
}

func TestDelta_PerSecond(t *testing.T) {
	type extended = mad.PortCountersExtended
	for _, test := range []struct {
		name        string
		before, now *Sample
		counter     Counter
		want        float64
		ok          bool
	}{
		{"grown", extendedSample(0, extended{SymbolErrors: 5}), extendedSample(2*time.Second, extended{SymbolErrors: 25}), SymbolErrors, 10, true},
		{"unchanged", extendedSample(0, extended{SymbolErrors: 5}), extendedSample(time.Second, extended{SymbolErrors: 5}), SymbolErrors, 0, true},
		{"cleared", extendedSample(0, extended{SymbolErrors: 5}), extendedSample(time.Second, extended{SymbolErrors: 1}), SymbolErrors, 0, false},
		{"another was cleared", extendedSample(0, extended{LinkDowned: 5}), extendedSample(time.Second, extended{SymbolErrors: 9}), SymbolErrors, 0, false},
		{"errors were cleared", extendedSample(0, extended{LinkDowned: 5}), extendedSample(time.Second, extended{XmitData: 9}), XmitData, 9, true},
		{"traffic was cleared", extendedSample(0, extended{XmitData: 5}), extendedSample(time.Second, extended{SymbolErrors: 9}), SymbolErrors, 0, false},
		{"no time", extendedSample(0, extended{}), extendedSample(0, extended{SymbolErrors: 5}), SymbolErrors, 0, false},
		{"time went back", extendedSample(time.Second, extended{}), extendedSample(0, extended{SymbolErrors: 5}), SymbolErrors, 0, false},
		{"counter that the agent lacks", basicSample(0, mad.PortCounters{}), basicSample(time.Second, mad.PortCounters{XmitWait: 3}), XmitWait, 0, false},
		{"saturated", basicSample(0, mad.PortCounters{}), basicSample(time.Second, mad.PortCounters{SymbolErrors: math.MaxUint16}), SymbolErrors, 0, false},
		{"4 bits", basicSample(0, mad.PortCounters{}), basicSample(time.Second, mad.PortCounters{LocalLinkIntegrity: 14}), LocalLinkIntegrity, 14, true},
		{"4 bits saturated", basicSample(0, mad.PortCounters{}), basicSample(time.Second, mad.PortCounters{LocalLinkIntegrity: 15}), LocalLinkIntegrity, 0, false},
		{"other width", basicSample(0, mad.PortCounters{}), extendedSample(time.Second, extended{SymbolErrors: 9}), SymbolErrors, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := NewDelta(test.before, test.now).PerSecond(test.counter)
			if got != test.want || ok != test.ok {
				t.Errorf("got %v, %t, want %v, %t", got, ok, test.want, test.ok)
			}
		})
	}
}

// linkedPort returns a port on an active link.
func linkedPort(width ib.LinkWidth, speed ib.Speed) *Port {
	n := &fabric.Node{Info: mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 1}}
	info := &mad.PortInfo{State: ib.PortActive, LinkWidthActive: width, CapMask: mad.CapExtendedSpeeds | mad.CapCapMask2}
	switch speed {
	case ib.QDR:
		info.LinkSpeedActive = 4
	case ib.EDR:
		info.LinkSpeedExtActive = 2
	case ib.NDR:
		info.LinkSpeedExtActive = 8
	}
	p := &fabric.Port{Node: n, Number: 1, Info: info}
	n.Ports = []*fabric.Port{nil, p}
	return &Port{Port: p}
}

func TestDataRate(t *testing.T) {
	for _, test := range []struct {
		width ib.LinkWidth
		speed ib.Speed
		want  float64
	}{
		{ib.Width4X, ib.QDR, 32e9},
		{ib.Width4X, ib.EDR, 100e9},
		{ib.Width4X, ib.NDR, 400e9},
		{ib.Width1X, ib.NDR, 100e9},
	} {
		t.Run(fmt.Sprint(test.width, " ", test.speed), func(t *testing.T) {
			if got := DataRate(linkedPort(test.width, test.speed).Port); got != test.want {
				t.Errorf("%v %v: got %v, want %v", test.width, test.speed, got, test.want)
			}
		})
	}
	down := linkedPort(ib.Width4X, ib.NDR)
	down.Info.State = ib.PortDown
	if got := DataRate(down.Port); got != 0 {
		t.Errorf("link that is down: got %v, want 0", got)
	}
}

// TestLostBandwidth converts ticks on Quantum and on older switches (NVIDIA, ibdiagnet user
// manual): 8 bytes, and 32 bytes per lane.
func TestLostBandwidth(t *testing.T) {
	type extended = mad.PortCountersExtended
	for _, test := range []struct {
		tick uint8
		wait uint64
		want float64
	}{
		{7, 50e9 / 8 / 10, 0.1},
		{31, 50e9 / 32 / 4 / 2, 0.5},
		{0, 50e9 / 4, 1},
		{7, 50e9, 1}, // more than possible
	} {
		t.Run(fmt.Sprint(test.wait, " ticks of ", test.tick), func(t *testing.T) {
			p := linkedPort(ib.Width4X, ib.NDR)
			p.Tick = &test.tick
			p.Before, p.Now = extendedSample(0, extended{}), extendedSample(time.Second, extended{XmitWait: test.wait})
			got, ok := p.LostBandwidth(p.Delta())
			if !ok || math.Abs(got-test.want) > 1e-6 {
				t.Errorf("tick %d, %d ticks: got %v, %t, want %v", test.tick, test.wait, got, ok, test.want)
			}
			p.Tick = nil
			if _, ok := p.LostBandwidth(p.Delta()); ok {
				t.Errorf("unknown tick: got a result")
			}
		})
	}
}

// TestBER checks the rules from UFM's PDR plugin at NDR: 2.88 and 3 errors.
func TestBER(t *testing.T) {
	for i, want := range []float64{2.88, 3} {
		if got := BERRules[i].Allowed(400e9); math.Abs(got-want) > 1e-9 {
			t.Errorf("rule %d: got %v allowed errors, want %v", i, got, want)
		}
	}
	type extended = mad.PortCountersExtended
	for _, test := range []struct {
		counted time.Duration
		errors  uint64
		text    string
		want    [2]BERVerdict
	}{
		{10 * time.Second, 0, "0 errors: below 2.5e-13", [2]BERVerdict{BERUnproved, BERUnproved}},
		{10 * time.Second, 2, "2 errors: 5.0e-13", [2]BERVerdict{BERUnproved, BERUnproved}},
		{10 * time.Second, 3, "3 errors: 7.5e-13", [2]BERVerdict{BERExceeded, BERUnproved}},
		{10 * time.Second, 4, "4 errors: 1.0e-12", [2]BERVerdict{BERExceeded, BERExceeded}},
		{12 * time.Minute, 2, "2 errors: 6.9e-15", [2]BERVerdict{BERProved, BERUnproved}},
		{719500 * time.Millisecond, 2, "2 errors: 6.9e-15", [2]BERVerdict{BERProved, BERUnproved}},
		{11 * time.Minute, 0, "0 errors: below 3.8e-15", [2]BERVerdict{BERUnproved, BERUnproved}},
		{125 * time.Minute, 3, "3 errors: 1.0e-15", [2]BERVerdict{BERProved, BERProved}},
		{125 * time.Minute, 20, "20 errors: 6.7e-15", [2]BERVerdict{BERProved, BERExceeded}},
	} {
		t.Run(fmt.Sprint(test.errors, " errors in ", test.counted), func(t *testing.T) {
			p := linkedPort(ib.Width4X, ib.NDR)
			p.Before, p.Now = extendedSample(0, extended{}), extendedSample(test.counted, extended{SymbolErrors: test.errors})
			b, ok := p.SymbolBER(p.Delta())
			got := [2]BERVerdict{b.Judge(BERRules[0]), b.Judge(BERRules[1])}
			if !ok || b.String() != test.text || got != test.want {
				t.Errorf("%d errors in %v: got %s, %v, want %s, %v", test.errors, test.counted, b, got, test.text, test.want)
			}
		})
	}
}

// TestBERRule_Needs checks that slow links need the time for 1/Limit bits.
func TestBERRule_Needs(t *testing.T) {
	for rate, want := range map[float64][2]time.Duration{
		400e9: {12 * time.Minute, 125 * time.Minute},
		100e9: {1000 * time.Second, 10000 * time.Second},
		8e9:   {12500 * time.Second, 125000 * time.Second},
	} {
		for i, r := range BERRules {
			if got := r.Needs(rate).Round(time.Second); got != want[i] {
				t.Errorf("%.0e at %.0e b/s: got %v, want %v", r.Limit, rate, got, want[i])
			}
		}
	}
}

func TestFindings(t *testing.T) {
	type extended = mad.PortCountersExtended
	tick := uint8(7)
	for _, test := range []struct {
		name        string
		before, now *Sample
		want        string // each finding's kind, class and text
	}{
		{"below the thresholds", nil, extendedSample(0, extended{SymbolErrors: 10}), ""},
		{"above", nil, extendedSample(0, extended{SymbolErrors: 11}), "exceeded cable SymbolErrorCounter 11; "},
		{"any increase", extendedSample(0, extended{SymbolErrors: 5}), extendedSample(time.Second, extended{SymbolErrors: 6}), "increased cable SymbolErrorCounter +1; "},
		{"old errors", extendedSample(0, extended{SymbolErrors: 500}), extendedSample(time.Second, extended{SymbolErrors: 500}), ""},
		{"flap", extendedSample(0, extended{}), extendedSample(time.Second, extended{LinkDowned: 1}), "flapped cable LinkDownedCounter +1; "},
		{"cleared", extendedSample(0, extended{LinkDowned: 4}), extendedSample(time.Second, extended{}), "cleared Class(0) cleared; "},
		{"disappeared", extendedSample(0, extended{}), nil, "disappeared Class(0) no reply; "},
		{"saturated", nil, basicSample(0, mad.PortCounters{LinkDowned: 255}), "saturated cable LinkDownedCounter 255 (saturated); "},
		{"waiting", extendedSample(0, extended{}), extendedSample(time.Second, extended{XmitWait: 1e9}), "congested congestion PortXmitWait +1000000000; "},
		{"little waiting", extendedSample(0, extended{}), extendedSample(time.Second, extended{XmitWait: 1e6}), ""},
		{"waiting of much demand", nil, extendedSample(0, extended{XmitWait: 1e9, XmitData: 1e12}), ""},
		{"waiting of little demand", nil, extendedSample(0, extended{XmitWait: 1e9, XmitData: 1e9}), "congested congestion PortXmitWait 1000000000; "},
		{"worst first", nil, extendedSample(0, extended{XmitDiscards: 1000, LinkDowned: 11, VL15Dropped: 999}),
			"exceeded cable LinkDownedCounter 11; congested congestion PortXmitDiscards 1000; exceeded configuration VL15Dropped 999; "},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Limits{Thresholds: RecommendedThresholds(), Wait: DefaultWait}
			p := linkedPort(ib.Width4X, ib.NDR)
			p.Tick, p.Before, p.Now = &tick, test.before, test.now
			got := ""
			for _, f := range l.Findings(p) {
				got += string(f.Kind) + " " + f.Class.String() + " " + f.Text() + "; "
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestCauseOf checks that details decide about the discards' cause.
func TestCauseOf(t *testing.T) {
	s := extendedSample(0, mad.PortCountersExtended{XmitDiscards: 10})
	s.Details = &Details{XmitDiscards: &mad.PortXmitDiscardDetails{NeighborMTUDiscards: 9, SwHOQLifetimeLimitDiscards: 1}}
	if got := causeOf(XmitDiscards, s); got.class != Configuration {
		t.Errorf("got %v, want configuration", got.class)
	}
	s.Details = nil
	if got := causeOf(XmitDiscards, s); got.class != Congestion {
		t.Errorf("without details: got %v, want congestion", got.class)
	}
}
