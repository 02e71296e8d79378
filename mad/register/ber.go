package register

import (
	"fmt"
	"math"

	"github.com/ibkit/ibkit/mad"
)

// A BER is a bit error rate: Coefficient · 10^-Magnitude. Zero errors are a coefficient of
// 0, or magnitude 255 with coefficient 15.
type BER struct {
	Coefficient uint8 `json:"coefficient"` // 4 bits
	Magnitude   uint8 `json:"magnitude"`
}

// A berName has the field names of a rate.
type berName struct{ coefficient, magnitude string }

// newBERName returns the names in the register tables, with a lane as the suffix.
func newBERName(name, suffix string) berName {
	return berName{name + "Coef" + suffix, name + "Magnitude" + suffix}
}

// layout declares the rate in half a word: its lowest bit is 0 or 16.
func (b *BER) layout(c *mad.Codec, word, low int, name berName) {
	bits(c, &b.Coefficient, word, low, 4, name.coefficient)
	bits(c, &b.Magnitude, word, low+8, 8, name.magnitude)
}

// IsZero reports whether there were no errors.
func (b BER) IsZero() bool { return b.Coefficient == 0 || b.Coefficient == 15 && b.Magnitude == 255 }

// Value returns the rate.
func (b BER) Value() float64 {
	if b.IsZero() {
		return 0
	}
	return float64(b.Coefficient) * math.Pow10(-int(b.Magnitude))
}

// String returns the rate as NVIDIA's tools print it: "3E-9".
func (b BER) String() string { return fmt.Sprintf("%dE-%d", b.Coefficient, b.Magnitude) }

// NewBER returns the rate next to a value from 0 to below 10. It rounds to a digit.
func NewBER(v float64) BER {
	if !(v > 0) {
		return BER{15, 255}
	}
	m := -int(math.Floor(math.Log10(v)))
	k := math.Round(v * math.Pow10(m))
	if k == 10 {
		k, m = 1, m-1
	}
	if m < 0 || m > 254 {
		return BER{15, 255}
	}
	return BER{uint8(k), uint8(m)}
}
