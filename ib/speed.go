package ib

import (
	"fmt"
	"strconv"
	"strings"
)

// A Speed is the signalling rate of a lane, or a set of rates: a bit per rate,
// in rate order (the kernel's enum ib_port_speed). PortInfo spreads the speeds
// over three field groups, and NVIDIA's ExtendedPortInfo adds FDR10; package
// mad converts them to a Speed.
type Speed uint16

// The speeds.
const (
	SDR Speed = 1 << iota
	DDR
	QDR
	FDR10 // NVIDIA
	FDR
	EDR
	HDR
	NDR
	XDR

	speedsDefined = XDR<<1 - 1
)

// speeds holds each speed's properties, by bit.
var speeds = [...]struct {
	name    string
	gbps    float64 // signalling rate per lane
	nominal int     // lane rate in rate names, in 100 Mb/s
	text    string  // infiniband-diags text
}{
	{"SDR", 2.5, 25, "2.5 Gbps"},
	{"DDR", 5, 50, "5.0 Gbps"},
	{"QDR", 10, 100, "10.0 Gbps"},
	{"FDR10", 10.3125, 100, "10.0 Gbps (FDR10)"},
	{"FDR", 14.0625, 140, "14.0625 Gbps"},
	{"EDR", 25.78125, 250, "25.78125 Gbps"},
	{"HDR", 53.125, 500, "53.125 Gbps"},
	{"NDR", 106.25, 1000, "106.25 Gbps"},
	{"XDR", 212.5, 2000, "212.5 Gbps"},
}

// Speeds returns all speeds, from the slowest to the fastest.
func Speeds() []Speed {
	all := make([]Speed, len(speeds))
	for i := range speeds {
		all[i] = 1 << i
	}
	return all
}

// top returns the fastest speed's bit number in s, -1 if s has
// no defined speed.
func (s Speed) top() int {
	for i := len(speeds) - 1; i >= 0; i-- {
		if s&(1<<i) != 0 {
			return i
		}
	}
	return -1
}

// Has reports whether s contains all speeds in other.
func (s Speed) Has(other Speed) bool { return s&other == other }

// Max returns the fastest speed in s, 0 if s has no defined speed.
func (s Speed) Max() Speed {
	if i := s.top(); i >= 0 {
		return 1 << i
	}
	return 0
}

// Single reports whether s is a single defined speed.
func (s Speed) Single() bool { return s != 0 && s&(s-1) == 0 && s.Defined() }

// Defined reports whether s contains defined speeds only.
func (s Speed) Defined() bool { return s&^speedsDefined == 0 }

// LaneGbps returns the signalling rate per lane at the fastest speed in
// s, in 10^9 bits per second, including the line code overhead; 0 if s
// has no defined speed.
func (s Speed) LaneGbps() float64 {
	if i := s.top(); i >= 0 {
		return speeds[i].gbps
	}
	return 0
}

// NominalGbps returns the nominal rate per lane at the fastest speed in s, in
// 10^9 bits per second: 2.5 for SDR, 25 for EDR, 200 for XDR. The kernel's
// sysfs and [Rate] use these rates. It is 0 if s has no defined speed.
func (s Speed) NominalGbps() float64 {
	if i := s.top(); i >= 0 {
		return float64(speeds[i].nominal) / 10
	}
	return 0
}

// Names returns the names of the defined speeds in s, the slowest first.
func (s Speed) Names() []string {
	var n []string
	for i := range speeds {
		if s&(1<<i) != 0 {
			n = append(n, speeds[i].name)
		}
	}
	return n
}

// Classic returns the fastest speed in s in infiniband-diags form, for example
// "14.0625 Gbps"; "" if s has no defined speed.
func (s Speed) Classic() string {
	if i := s.top(); i >= 0 {
		return speeds[i].text
	}
	return ""
}

// String returns the names of the speeds in s, "SDR,DDR,QDR", the slowest first,
// followed by undefined bits as a hexadecimal number; "none" for the empty set.
func (s Speed) String() string {
	if s == 0 {
		return "none"
	}
	if s.Single() { // the only case for a link that is up: without allocation
		return speeds[s.top()].name
	}
	n := s.Names()
	if rest := s &^ speedsDefined; rest != 0 {
		n = append(n, fmt.Sprintf("%#x", uint16(rest)))
	}
	return strings.Join(n, ",")
}

// MarshalText returns the [Speed.String] text. The error is always nil.
func (s Speed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the text that [Speed.String] returns.
func (s *Speed) UnmarshalText(text []byte) error {
	if strings.EqualFold(string(text), "none") {
		*s = 0
		return nil
	}
	var set Speed
	for name := range strings.SplitSeq(string(text), ",") {
		one := speedOf(name)
		if one == 0 {
			return unknown("speed", text)
		}
		set |= one
	}
	*s = set
	return nil
}

// speedOf returns the speed with the given name, or the undefined bits with the
// given number; 0 for an unknown name.
func speedOf(name string) Speed {
	for i := range speeds {
		if strings.EqualFold(speeds[i].name, name) {
			return 1 << i
		}
	}
	v, err := strconv.ParseUint(name, 0, 16)
	if err != nil || Speed(v)&speedsDefined != 0 {
		return 0
	}
	return Speed(v)
}

// LinkGbps returns the signalling rate of a whole link in 10^9 bits per second:
// lane rate times lane count, for the widest width and the fastest speed in
// the sets.
func LinkGbps(width LinkWidth, speed Speed) float64 {
	return float64(width.Lanes()) * speed.LaneGbps()
}
