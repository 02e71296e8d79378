package fabric

import (
	"maps"
	"testing"

	"github.com/ibkit/ibkit/ib"
)

func TestUniqueNames(t *testing.T) {
	names := map[ib.GUID]string{
		1: "leaf1", 2: "node-01.rack_2", 3: "twin", 4: "twin", 5: "two words", 6: "12", 7: "fe80::1", 8: "leaf2[3]", 9: "*", 10: "", 11: "grün", 12: "-x",
	}
	got := UniqueNames([]ib.GUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, func(g ib.GUID) (ib.GUID, string) { return g, names[g] })
	if want := map[ib.GUID]string{1: "leaf1", 2: "node-01.rack_2"}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
