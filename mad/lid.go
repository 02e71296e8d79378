package mad

// IsUnicastLID reports whether a LID can be a port's: 1 to 0xbfff
// (InfiniBand Architecture, Volume 1, 4.1.3).
func IsUnicastLID(lid uint16) bool { return lid >= 1 && lid <= 0xbfff }
