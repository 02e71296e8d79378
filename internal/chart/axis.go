package chart

import "math"

// axis is a range of values and where it is drawn.
type axis struct {
	from, to, step float64
	begin, length  float64 // pixels; a negative length goes upwards
}

// minSteps is how many steps an axis has at least.
const minSteps = 5

// newAxis returns one whose steps are 1, 2 or 5 times a power of ten, and whole
// numbers if they have to be.
func newAxis(from, to, begin, length float64, whole bool) axis {
	if !(to > from) {
		from, to = from-0.5, from+0.5
		if whole {
			from, to = math.Floor(from), math.Ceil(to)
		}
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

// ticks are the values that are named.
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
