package chart

import "math"

// axis maps a value range to pixels.
type axis struct {
	from, to, step float64
	begin, length  float64 // pixels; negative lengths go upwards
}

// minSteps is the minimum step count on an axis.
const minSteps = 5

// newAxis returns an axis with steps that are 1, 2 or 5 times a power of 10, and whole
// numbers if whole is set. An empty range starts at its value.
func newAxis(from, to, begin, length float64, whole bool) axis {
	if !(to > from) {
		if whole {
			from = math.Floor(from)
		}
		to = from + 1
	}
	step := math.Pow(10, math.Ceil(math.Log10(to-from)))
	for _, by := range []float64{2, 2.5, 2, 2, 2.5} {
		if (to-from)/step >= minSteps {
			break
		}
		step /= by
	}
	if whole {
		step = max(1, math.Floor(step))
	}
	return axis{math.Floor(from/step) * step, math.Ceil(to/step) * step, step, begin, length}
}

func (a axis) at(v float64) float64 { return a.begin + (v-a.from)/(a.to-a.from)*a.length }

// ticks returns the labelled values.
func (a axis) ticks() []float64 {
	var all []float64
	for i := range 40 {
		v := a.from + float64(i)*a.step
		if v > a.to+a.step/1e3 {
			break
		}
		all = append(all, v)
	}
	return all
}
