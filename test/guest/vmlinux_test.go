package guest

import (
	"encoding/binary"
	"testing"
)

func TestPayload(t *testing.T) {
	image := make([]byte, 3000)
	image[setupSectsOffset] = 1
	copy(image[magicOffset:], "HdrS")
	binary.LittleEndian.PutUint32(image[payloadOffsetOffset:], 100)
	binary.LittleEndian.PutUint32(image[payloadLengthOffset:], 7)
	copy(image[2*512+100:], "payload")
	if got, err := payload(image); err != nil || string(got) != "payload" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, short := range [][]byte{nil, image[:0x24f], image[:1130]} {
		if got, err := payload(short); err == nil {
			t.Errorf("got %q of %d bytes", got, len(short))
		}
	}
}
