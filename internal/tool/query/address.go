package query

import (
	"slices"

	"github.com/ibkit/ibkit/mad"
)

// addressParts returns the requests for words of the configuration space.
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

// addressPayload returns the data of a request for words. A Get needs no masks; agents
// return those of the request, and the whole word is wanted.
func addressPayload(addresses []uint32, p part) []byte {
	first := max(p.block, 0)
	var a mad.MlnxConfigSpace
	for i, address := range addresses[first:min(len(addresses), first+mad.MlnxConfigRecords)] {
		a.Records[i] = mad.MlnxConfigRecord{Address: address, Mask: 0xffffffff}
	}
	payload := make([]byte, mad.MlnxDataSize)
	if err := mad.Encode(&a, payload); err != nil {
		panic("query: " + err.Error()) // all fields have 32 bits
	}
	return payload
}
