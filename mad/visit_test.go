package mad

import "testing"

// TestVisit checks the values that Visit passes and the values that it stores.
func TestVisit(t *testing.T) {
	a := PortCounters{SymbolErrors: 7, LocalLinkIntegrity: 3}
	Visit(&a, func(name string, width int, v uint64) uint64 {
		switch {
		case name == "SymbolErrorCounter" && (width != 16 || v != 7), name == "LocalLinkIntegrityErrors" && (width != 4 || v != 3):
			t.Errorf("%s: %d in %d bits", name, v, width)
		case name == "PortXmitWait":
			return 1 << 31
		}
		return v
	})
	if want := (PortCounters{SymbolErrors: 7, LocalLinkIntegrity: 3, XmitWait: 1 << 31}); a != want {
		t.Errorf("got %+v, want %+v", a, want)
	}

	var sl PortXmitDataSL
	var names []string
	Visit(&sl, func(name string, _ int, _ uint64) uint64 {
		names = append(names, name)
		return uint64(len(names))
	})
	if names[2] != "XmtDataSL0" || names[17] != "XmtDataSL15" || sl.SL[15] != 18 || sl.PortSelect != 1 {
		t.Errorf("got %v, %+v", names, sl)
	}
}
