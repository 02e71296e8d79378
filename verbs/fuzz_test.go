package verbs

import (
	"testing"

	"github.com/ibkit/ibkit/internal/uapi"
)

func FuzzDevice(f *testing.F) {
	f.Fuzz(func(t *testing.T, core, vendor []byte, driver uint32) {
		r := decode[uapi.ExQueryDeviceResp](core)
		a := deviceAttr(&r, DriverID(driver))
		a.addVendor(DriverID(driver), vendor)
		_ = a.FW.String()
		if _, rest := a.Caps.Names(); rest&^a.Caps != 0 {
			t.Errorf("capabilities %x of %x", rest, a.Caps)
		}
		if (a.XRCODP != nil) != (r.ResponseLength >= uapi.ExQueryDeviceRespSize-4) {
			t.Errorf("last field of a response of %d bytes: %v", r.ResponseLength, a.XRCODP)
		}
	})
}

func FuzzPort(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		r := decode[uapi.QueryPortRespEx](b)
		a := portAttr(&r)
		for _, s := range []string{
			a.State.String(), a.MaxMTU.String(), a.LinkLayer.String(), a.MaxVL.String(), a.ActiveWidth.String(),
			a.ActiveSpeed.String(), a.PhysState.String(),
		} {
			if s == "" {
				t.Errorf("a name is empty: %+v", a)
			}
		}
	})
}

func FuzzGIDTable(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, n uint64) {
		if got := gidTable(b, n); uint64(len(got)) > n || len(got) > len(b)/uapi.GIDEntrySize {
			t.Errorf("%d entries", len(got))
		}
	})
}

func FuzzHandles(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, n uint64) {
		if got := handles(b, n); uint64(len(got)) > n || len(got) > len(b)/4 {
			t.Errorf("%d handles", len(got))
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if decodeEvent(b).String() == "" {
			t.Error("an event has no name")
		}
	})
}
