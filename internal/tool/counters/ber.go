package counters

import (
	"fmt"
	"time"
)

// A BER is a port receiver's bit error rate in a window, as far as symbol errors show it.
type BER struct {
	Errors uint64
	Bits   float64 // received in the window, at the link rate
	Window time.Duration
}

// SymbolBER returns a port's bit error rate. It reports false without a comparable symbol
// error count or without a link.
func (p *Port) SymbolBER(d *Delta) (BER, bool) {
	ch, ok := d.Change(SymbolErrors)
	rate := DataRate(p.Port)
	if !ok || rate == 0 || ch.Saturated {
		return BER{}, false
	}
	return BER{Errors: ch.Increase, Bits: rate * ch.Window.Seconds(), Window: ch.Window}, true
}

// BitRate returns the link rate in bits per second.
func (b BER) BitRate() float64 { return b.Bits / b.Window.Seconds() }

// Rate returns the errors per bit. Without errors it is the bound that the window proves: a
// single error in all bits.
func (b BER) Rate() float64 { return float64(max(b.Errors, 1)) / b.Bits }

// A BERRule is a bit error rate limit and the window that proves it.
type BERRule struct {
	Limit  float64
	Window time.Duration
}

// BERRules are the 12 and 125 minute windows that prove 1e-14 and 1e-15 (NVIDIA, UFM PDR
// plugin). At 400 Gb/s, a link at the limit has three errors on average in such a window,
// and no errors in 1 of 20 windows. The bound of [BER.Rate] is less certain: a link at that
// bound has no errors in 1 of 3 windows.
var BERRules = []BERRule{
	{1e-14, 12 * time.Minute},
	{1e-15, 125 * time.Minute},
}

// Needs returns the window that proves the limit at a rate in bits per second: the rule's
// window or, for links too slow for it, the time for 1/Limit bits.
func (r BERRule) Needs(rate float64) time.Duration {
	return max(r.Window, time.Duration(float64(time.Second)/(r.Limit*rate)))
}

// Allowed returns the symbol errors in this window below which the limit is kept: 2.88
// for 1e-14 at 400 Gb/s.
func (r BERRule) Allowed(rate float64) float64 { return rate * r.Needs(rate).Seconds() * r.Limit }

// A BERVerdict is a rule's result.
type BERVerdict uint8

// The verdicts.
const (
	BERUnproved BERVerdict = iota // the window is too short, without too many errors
	BERProved                     // at most the allowed errors in a window that is long enough
	BERExceeded                   // more errors than the rule allows in its whole window
)

var berVerdicts = [...]string{"unproved", "proved", "exceeded"}

// String returns the verdict's name.
func (v BERVerdict) String() string { return berVerdicts[v] }

// MarshalText returns the verdict's name. The error is always nil.
func (v BERVerdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// Judge applies a rule. Reply times vary by less than a second.
func (b BER) Judge(r BERRule) BERVerdict {
	needs := r.Needs(b.BitRate())
	windows := max(b.Window.Seconds()/needs.Seconds(), 1)
	switch {
	case float64(b.Errors) > r.Allowed(b.BitRate())*windows:
		return BERExceeded
	case b.Window+time.Second >= needs:
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
