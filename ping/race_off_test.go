//go:build !race

package ping

// raceEnabled reports whether the race detector runs: sync.Pool then drops items at
// random, and tests take longer.
const raceEnabled = false
