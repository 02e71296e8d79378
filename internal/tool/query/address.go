package query

import (
	"slices"

	"github.com/ibkit/ibkit/mad"
)

// addressParts returns the requests for configuration space words.
func addressParts(addresses []uint32) []part {
	var parts []part
	for chunk := range slices.Chunk(addresses, mad.MlnxConfigRecords) {
		parts = append(parts, part{port: -1, modifier: mad.MlnxConfigSpaceModifier(len(chunk)), block: len(parts) * mad.MlnxConfigRecords})
	}
	if len(parts) == 1 {
		parts[0].block = -1
	}
	return parts
}

// words returns the data for a request for words. A Get needs no masks; agents return the
// request's masks, and the whole word is wanted.
func words(addresses []uint32, p part) *mad.MlnxConfigSpace {
	first := max(p.block, 0)
	a := &mad.MlnxConfigSpace{}
	for i, address := range addresses[first:min(len(addresses), first+mad.MlnxConfigRecords)] {
		a.Records[i] = mad.MlnxConfigRecord{Address: address, Mask: 0xffffffff}
	}
	return a
}
