//go:build !race

package ping

// raceEnabled tells that sync.Pool drops things at random, and all takes longer.
const raceEnabled = false
