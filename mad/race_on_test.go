//go:build race

package mad

// raceEnabled tells that sync.Pool drops things at random.
const raceEnabled = true
