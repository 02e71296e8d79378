//go:build !race

package mad

// raceEnabled reports that sync.Pool drops values at random.
const raceEnabled = false
