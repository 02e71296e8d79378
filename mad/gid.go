package mad

import (
	"strconv"

	"github.com/ibkit/ibkit/ib"
)

// asGID is the GID style.
var asGID = &ArrayStyle{
	value: func(b []byte, v []uint64, _ int) []byte { return append(b, gidOf(v).String()...) },
	json:  func(b []byte, v []uint64) []byte { return strconv.AppendQuote(b, gidOf(v).String()) },
}

func gidOf(v []uint64) (g ib.GID) {
	for i := range g {
		g[i] = uint8(v[i])
	}
	return g
}
