package counters

import (
	"fmt"
	"time"
)

// A BER is the bit error rate of the receiver of a port in a window, as far as symbol
// errors show it.
type BER struct {
	Errors uint64
	Bits   float64 // received in the window, at the rate of the link
	Window time.Duration
}

// SymbolBER returns the bit error rate of a port. It reports false without a
// comparable count of symbol errors or without a link.
func (p *Port) SymbolBER(d *Delta) (BER, bool) {
	ch, ok := d.Change(SymbolErrors)
	rate := DataRate(p.Port)
	if !ok || rate == 0 || ch.Saturated {
		return BER{}, false
	}
	return BER{Errors: ch.Increase, Bits: rate * ch.Window.Seconds(), Window: ch.Window}, true
}

// Rate returns the errors per bit. Without errors it is the bound that the window
// proves: one error in all bits.
func (b BER) Rate() float64 { return float64(max(b.Errors, 1)) / b.Bits }

// A BERRule is a limit of the bit error rate and the window that proves it.
type BERRule struct {
	Limit  float64
	Window time.Duration
}

// BERRules are the windows of 12 and 125 minutes after which 1e-14 and 1e-15 are
// proved at 400 Gb/s (NVIDIA, UFM PDR plugin).
var BERRules = []BERRule{
	{1e-14, 12 * time.Minute},
	{1e-15, 125 * time.Minute},
}

// Allowed returns the symbol errors in the window of a rule below which the limit is
// kept, at a rate in bits per second: 2.88 for 1e-14 at 400 Gb/s.
func (r BERRule) Allowed(rate float64) float64 { return rate * r.Window.Seconds() * r.Limit }

// A BERVerdict is the result of a rule.
type BERVerdict uint8

// The verdicts.
const (
	BERUnproved BERVerdict = iota // the window is too short, without too many errors
	BERProved                     // at most the allowed errors in a window that is long enough
	BERExceeded                   // more errors than the rule allows in its whole window
)

var berVerdicts = [...]string{"unproved", "proved", "exceeded"}

// String returns the name of the verdict.
func (v BERVerdict) String() string { return berVerdicts[v] }

// MarshalText returns the name of the verdict. The error is always nil.
func (v BERVerdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Judge applies a rule.
func (b BER) Judge(r BERRule) BERVerdict {
	rate := b.Bits / b.Window.Seconds()
	windows := max(b.Window.Seconds()/r.Window.Seconds(), 1)
	switch {
	case float64(b.Errors) > r.Allowed(rate)*windows:
		return BERExceeded
	case b.Window >= r.Window:
		return BERProved
	}
	return BERUnproved
}

// String returns the rate, for example "0 errors: below 2.5e-13".
func (b BER) String() string {
	if b.Errors == 0 {
		return fmt.Sprintf("0 errors: below %.1e", b.Rate())
	}
	return fmt.Sprintf("%d errors: %.1e", b.Errors, b.Rate())
}
