package cmd

import (
	"encoding/hex"
	"strings"

	"github.com/ibkit/ibkit/ping"
)

// makePayload makes the data that probes carry. A pattern without a size fills
// all the room that there is.
func makePayload(size int, sized bool, pattern string) ([]byte, error) {
	if size < 0 || size > ping.PayloadSize {
		return nil, usageErrorf("invalid size %d: a probe has room for 0 to %d bytes", size, ping.PayloadSize)
	}
	unit := make([]byte, ping.PayloadSize)
	for i := range unit {
		unit[i] = byte(i)
	}
	if pattern != "" {
		var err error
		unit, err = hex.DecodeString(strings.TrimPrefix(pattern, "0x"))
		if err != nil || len(unit) == 0 || len(unit) > ping.PayloadSize {
			return nil, usageErrorf("invalid pattern %q: not 1 to %d bytes in hexadecimal digits", pattern, ping.PayloadSize)
		}
		if !sized {
			size = ping.PayloadSize
		}
	}
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = unit[i%len(unit)]
	}
	return payload, nil
}
