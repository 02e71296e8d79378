package verbs

import (
	"testing"

	"github.com/ibkit/ibkit/internal/uapi"
)

func FuzzDevice(f *testing.F) {
	f.Fuzz(func(t *testing.T, core, vendor []byte, driver uint32) {
		r := uapi.Decode[uapi.ExQueryDeviceResp](core)
		a := deviceAttr(&r, DriverID(driver))
		a.addVendor(DriverID(driver), vendor)
		_ = a.FW.String()
		if _, rest := a.Caps.Names(); rest&^a.Caps != 0 {
			t.Errorf("got rest %x of capabilities %x", rest, a.Caps)
		}
		if (a.XRCODP != nil) != (r.ResponseLength >= uapi.ExQueryDeviceRespSize-4) {
			t.Errorf("response of %d bytes: got XRCODP %v", r.ResponseLength, a.XRCODP)
		}
	})
}

func FuzzPort(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		r := uapi.Decode[uapi.QueryPortRespEx](b)
		a := portAttr(&r)
		for _, s := range []string{
			a.State.String(), a.MaxMTU.String(), a.LinkLayer.String(), a.MaxVL.String(), a.ActiveWidth.String(),
			a.ActiveSpeed.String(), a.PhysState.String(),
		} {
			if s == "" {
				t.Errorf("got an empty name: %+v", a)
			}
		}
	})
}

func FuzzGIDTable(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, n uint64) {
		if got := gidTable(b, n); uint64(len(got)) > n || len(got) > len(b)/uapi.GIDEntrySize {
			t.Errorf("got %d entries of %d bytes, count %d", len(got), len(b), n)
		}
	})
}

func FuzzHandles(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte, n uint64) {
		if got := handles(b, n); uint64(len(got)) > n || len(got) > len(b)/4 {
			t.Errorf("got %d handles of %d bytes, count %d", len(got), len(b), n)
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		if decodeEvent(b).String() == "" {
			t.Error("got an empty name of an event")
		}
	})
}
