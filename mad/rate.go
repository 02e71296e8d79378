package mad

import "strconv"

// A Rate is the code of a data rate in records of paths and multicast groups
// (InfiniBand Architecture, Volume 1, 15.2.5.16). Codes are not in the order of
// the rates that they stand for.
type Rate uint8

// rateGbps has the rates by code, in tenths of Gb/s as their names have them:
// the later ones are nominal.
var rateGbps = [...]uint16{
	2: 25, 3: 100, 4: 300, 5: 50, 6: 200, 7: 400, 8: 600, 9: 800, 10: 1200,
	11: 140, 12: 560, 13: 1120, 14: 1680, 15: 250, 16: 1000, 17: 2000, 18: 3000,
	19: 280, 20: 500, 21: 4000, 22: 6000, 23: 8000, 24: 12000, 25: 16000, 26: 24000,
}

// laneGbps has the nominal rate of a lane, in the same unit.
var laneGbps = map[Speed]int{
	SDR: 25, DDR: 50, QDR: 100, FDR10: 100, FDR: 140, EDR: 250, HDR: 500, NDR: 1000, XDR: 2000,
}

// Gbps returns the nominal rate in Gb/s, 0 for an undefined code.
func (r Rate) Gbps() float64 { return float64(r.tenths()) / 10 }

func (r Rate) tenths() int {
	if int(r) < len(rateGbps) {
		return int(rateGbps[r])
	}
	return 0
}

// Compare compares what two codes stand for; an undefined one is less than any
// other.
func (r Rate) Compare(other Rate) int { return r.tenths() - other.tenths() }

// Below returns the next lower rate, 0 where there is none.
func (r Rate) Below() Rate {
	var below Rate
	for code := range Rate(len(rateGbps)) {
		if code.Compare(r) < 0 && code.Compare(below) > 0 {
			below = code
		}
	}
	return below
}

// String returns the rate as "100 Gb/sec", and "?(9)" for an undefined code 9.
func (r Rate) String() string {
	if r.tenths() == 0 {
		return "?(" + strconv.Itoa(int(r)) + ")"
	}
	return strconv.FormatFloat(r.Gbps(), 'f', -1, 64) + " Gb/sec"
}

// RateOf returns the code for what a link runs at, 0 where there is none.
func RateOf(width LinkWidth, speed Speed) Rate {
	want := width.Lanes() * laneGbps[speed]
	for code, tenths := range rateGbps {
		if want > 0 && int(tenths) == want {
			return Rate(code)
		}
	}
	return 0
}

var asRate = enum(func(v uint64) string {
	if Rate(v).tenths() == 0 {
		return ""
	}
	return Rate(v).String()
}, func(v uint64) string { return Rate(v).String() })

// A Selector says how a record in a request compares a rate, an MTU or a life
// time (15.2.5.16).
type Selector uint8

// The selectors.
const (
	SelectGreater Selector = 0
	SelectLess    Selector = 1
	SelectExactly Selector = 2
	SelectBest    Selector = 3 // the largest rate or MTU, the smallest life time
)

var selectorNames = names{"greater than", "less than", "exactly", "best"}

// String returns what the selector means, for example "less than".
func (s Selector) String() string { return selectorNames.text(uint64(s)) }

var asSelector = selectorNames.style()
