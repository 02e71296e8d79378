package ib

import (
	"strconv"
	"strings"
)

// A Rate is the code of a data rate in path and multicast records and in address
// vectors (InfiniBand Architecture, Volume 1, 15.2.5.16; the kernel's enum
// ib_rate). Codes are not in rate order: use Compare. The zero Rate is
// undefined in records; in an address vector it is the port's rate.
type Rate uint8

// The rates in Gb/s.
const (
	Rate2p5  Rate = 2
	Rate5    Rate = 5
	Rate10   Rate = 3
	Rate14   Rate = 11
	Rate20   Rate = 6
	Rate25   Rate = 15
	Rate28   Rate = 19
	Rate30   Rate = 4
	Rate40   Rate = 7
	Rate50   Rate = 20
	Rate56   Rate = 12
	Rate60   Rate = 8
	Rate80   Rate = 9
	Rate100  Rate = 16
	Rate112  Rate = 13
	Rate120  Rate = 10
	Rate168  Rate = 14
	Rate200  Rate = 17
	Rate300  Rate = 18
	Rate400  Rate = 21
	Rate600  Rate = 22
	Rate800  Rate = 23
	Rate1200 Rate = 24
	Rate1600 Rate = 25
	Rate2400 Rate = 26
)

// rates holds the nominal rates by code, in 100 Mb/s.
var rates = [...]uint16{
	Rate2p5: 25, Rate5: 50, Rate10: 100, Rate14: 140, Rate20: 200, Rate25: 250, Rate28: 280,
	Rate30: 300, Rate40: 400, Rate50: 500, Rate56: 560, Rate60: 600, Rate80: 800, Rate100: 1000,
	Rate112: 1120, Rate120: 1200, Rate168: 1680, Rate200: 2000, Rate300: 3000, Rate400: 4000,
	Rate600: 6000, Rate800: 8000, Rate1200: 12000, Rate1600: 16000, Rate2400: 24000,
}

// rateUnit follows the number in a rate's text.
const rateUnit = " Gb/sec"

// RateOf returns the rate code of a link with a single width and speed, 0 if
// there is no such code.
func RateOf(width LinkWidth, speed Speed) Rate {
	if !width.Single() || !speed.Single() {
		return 0
	}
	want := width.Lanes() * speeds[speed.top()].nominal
	for code, tenths := range rates {
		if int(tenths) == want {
			return Rate(code)
		}
	}
	return 0
}

// Gbps returns the nominal rate in 10^9 bits per second, 0 for an undefined
// code.
func (r Rate) Gbps() float64 { return float64(r.tenths()) / 10 }

func (r Rate) tenths() int {
	if int(r) < len(rates) {
		return int(rates[r])
	}
	return 0
}

// Compare returns a negative number if r is slower than other, a positive number
// if it is faster, and 0 if both are equal. An undefined code is slower than a
// defined code.
func (r Rate) Compare(other Rate) int { return r.tenths() - other.tenths() }

// Below returns the next slower rate, 0 for the slowest rate.
func (r Rate) Below() Rate {
	var below Rate
	for code := range Rate(len(rates)) {
		if code.Compare(r) < 0 && code.Compare(below) > 0 {
			below = code
		}
	}
	return below
}

// Defined reports whether the code stands for a rate.
func (r Rate) Defined() bool { return r.tenths() != 0 }

// String returns the rate as "100 Gb/sec", and "?(9)" for an undefined code 9.
func (r Rate) String() string {
	if !r.Defined() {
		return undefined(uint64(r))
	}
	return strconv.FormatFloat(r.Gbps(), 'f', -1, 64) + rateUnit
}

// MarshalText returns the [Rate.String] text. The error is always nil.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses the text that [Rate.String] returns.
func (r *Rate) UnmarshalText(text []byte) error {
	if v, ok := parseUndefined(string(text), 8); ok && !Rate(v).Defined() {
		*r = Rate(v)
		return nil
	}
	for code := range Rate(len(rates)) {
		if code.Defined() && strings.EqualFold(code.String(), string(text)) {
			*r = code
			return nil
		}
	}
	return unknown("rate", text)
}
