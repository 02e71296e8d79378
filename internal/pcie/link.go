package pcie

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/sysfs"
)

// A Link is a PCI Express link: the connection between a function and its parent, for a root
// port and a downstream port between the port and its child. Widths are numbers of lanes;
// speeds have the format of sysfs, for example "16.0 GT/s PCIe".
type Link struct {
	Width    *int    `json:"width"`     // current_link_width
	MaxWidth *int    `json:"max_width"` // max_link_width
	Speed    *string `json:"speed"`     // current_link_speed
	MaxSpeed *string `json:"max_speed"` // max_link_speed
}

// ReadLink reads the link of a function from its directory.
func ReadLink(d sysfs.Dir) Link {
	return Link{d.Int("current_link_width"), d.Int("max_link_width"), d.Text("current_link_speed"), d.Text("max_link_speed")}
}

// String returns width and speed: "x8/x16 32.0 GT/s PCIe", with - for unknown values.
func (l Link) String() string {
	width := func(n *int) string {
		if n == nil {
			return "x-"
		}
		return "x" + strconv.Itoa(*n)
	}
	speed := "-"
	if l.Speed != nil {
		speed = *l.Speed
	}
	return width(l.Width) + "/" + width(l.MaxWidth) + " " + speed
}

// Raise replaces width and speed by the values of another reading if the speed is higher.
func (l *Link) Raise(other Link) {
	if gigatransfers(other.Speed) > gigatransfers(l.Speed) {
		l.Width, l.Speed = other.Width, other.Speed
	}
}

// Below describes how the link is below its maximum: "x8 of x16", "8.0 of 16.0 GT/s". Values
// that are unknown or 0 are not judged.
func (l Link) Below() []string { return l.BelowMaximum(l) }

// BelowMaximum describes how the link is below the maximum of a function and of other, the
// function at its other end.
func (l Link) BelowMaximum(other Link) []string {
	var all []string
	if l.Width != nil && *l.Width > 0 {
		if want := minimum(l.MaxWidth, other.MaxWidth); *l.Width < want {
			all = append(all, fmt.Sprintf("x%d of x%d", *l.Width, want))
		}
	}
	want := l.MaxSpeed
	if a, b := gigatransfers(l.MaxSpeed), gigatransfers(other.MaxSpeed); b > 0 && b < a {
		want = other.MaxSpeed
	}
	if a, b := gigatransfers(l.Speed), gigatransfers(want); a > 0 && a < b {
		speed, _, _ := strings.Cut(*l.Speed, " ")
		all = append(all, fmt.Sprintf("%s of %s", speed, strings.TrimSuffix(*want, " PCIe")))
	}
	return all
}

// minimum returns the smaller of the numbers that are known and positive, or 0.
func minimum(a, b *int) int {
	switch {
	case a == nil:
		return 0
	case b == nil || *b <= 0:
		return *a
	}
	return min(*a, *b)
}

// gigatransfers parses a speed like "16.0 GT/s PCIe". It returns 0 for "Unknown".
func gigatransfers(s *string) float64 {
	if s == nil {
		return 0
	}
	word, _, _ := strings.Cut(*s, " ")
	n, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return 0
	}
	return n
}
