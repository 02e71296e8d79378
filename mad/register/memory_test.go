package register

import (
	"bytes"
	"errors"
	"testing"

	"github.com/ibkit/ibkit/mad"
)

// Values of SLRG depend on the version: mstlink prints 8 bits for 7 nm, 16 bits for 5 nm.
func TestEye_Versions(t *testing.T) {
	for _, test := range []struct {
		version uint8
		want    Eye
	}{
		{4, Eye{Initial: 0x44, Last: 0x11, Upper: 0x22, Mid: 0x33, Lower: 0x77}},
		{5, Eye{Initial: 0x3344, Upper: 0x3377, Last: 0x1122, Lower: 0x0506, Mid: 0x0708}},
	} {
		data := make([]byte, 0x28)
		data[0], data[1], data[2] = 1<<4|test.version, 3, 1
		copy(data[0x08:], []byte{0, 0, 0x33, 0x44, 0x11, 0x22, 0x33, 0x77, 0x07, 0x08, 0x05, 0x06})
		test.want.LocalPort, test.want.Lane, test.want.Valid, test.want.Version = 3, 1, 1, test.version
		got := Eye{LocalPort: 3, Lane: 1}
		if err := Check(&got, data); err != nil || got != test.want || !got.IsKnown() {
			t.Errorf("version %d: got %+v, error %v, want %+v", test.version, got, err, test.want)
		}
	}
	if (&Eye{Valid: 1, Version: 3}).IsKnown() || (&Eye{Version: 4}).IsKnown() {
		t.Error("got a value of another version, or one that is not valid")
	}
}

func TestPCIeSpeed(t *testing.T) {
	for speed, want := range map[PCIeSpeed]int{0: 0, 1: 1, 4: 3, 0x10: 4, 0x37: 5, 0x40: 6} {
		if got := speed.Generation(); got != want {
			t.Errorf("%#x: got %d, want %d", speed, got, want)
		}
	}
}

// put writes a value at an address of a page of 256 bytes.
func put(b []byte, at int, data ...byte) { copy(b[at:], data) }

// sff8636 returns the pages of a QSFP28 optical module.
func sff8636() map[uint8][]byte {
	page0, page3 := make([]byte, 256), make([]byte, 256)
	put(page0, 0, 0x11)
	put(page0, 22, 0x2d, 0x80) // 45.5 degrees
	put(page0, 26, 0x80, 0xe8) // 3.3 V
	put(page0, 34, 0x13, 0x88) // lane 0 receives 500.0 microwatts
	put(page0, 42, 0x0b, 0xb8) // 3000 times 2 microamperes
	put(page0, 56, 0x27, 0x10) // lane 3 sends 1 mW
	put(page0, 130, 0x0c)      // MPO
	put(page0, 147, 0x00)      // 850 nm VCSEL
	put(page0, 148, []byte("Vendor          ")...)
	put(page0, 165, 0x00, 0x02, 0xc9)
	put(page0, 168, []byte("MMA1B00-C100D   ")...)
	put(page0, 184, 'A', '2')
	put(page0, 196, []byte("MT1234FT00001   ")...)
	put(page0, 212, []byte("230115  ")...)
	put(page3, 128, 0x4b, 0x00, 0xfb, 0x00) // 75 and -5 degrees
	put(page3, 176, 0x9b, 0x83, 0x06, 0x2d) // 3981.1 and 158.1 microwatts
	return map[uint8][]byte{0: page0, 3: page3}
}

// cmis returns the pages of an OSFP optical module.
func cmis() map[uint8][]byte {
	page0, page2, page17 := make([]byte, 256), make([]byte, 256), make([]byte, 256)
	put(page0, 0, 0x19, 0x50)
	put(page0, 3, 3<<1) // ready
	put(page0, 14, 0x30, 0x40)
	put(page0, 16, 0x80, 0xe8)
	put(page0, 39, 46, 110)
	put(page0, 85, 2) // single mode
	put(page0, 129, []byte("NVIDIA          ")...)
	put(page0, 145, 0x48, 0xb0, 0x2d)
	put(page0, 148, []byte("MMS4X00-NM      ")...)
	put(page0, 164, 'A', '3')
	put(page0, 166, []byte("MT2301FT00002   ")...)
	put(page0, 182, []byte("230115  ")...)
	put(page0, 203, 0x0c)
	put(page2, 128, 0x4b, 0x00, 0xfb, 0x00)
	put(page2, 192, 0x9b, 0x83, 0x06, 0x2d)
	put(page17, 154, 0x27, 0x10)    // lane 0 sends 1 mW
	put(page17, 170+14, 0x0b, 0xb8) // bias of lane 7
	put(page17, 186+2, 0x13, 0x88)  // lane 1 receives 500.0 microwatts
	return map[uint8][]byte{0: page0, 2: page2, 0x11: page17}
}

// read stores the parts that the memory asks for, from pages.
func read(t *testing.T, pages map[uint8][]byte) *Memory {
	t.Helper()
	m := new(Memory)
	store := func(parts []MemoryPart) {
		for _, p := range parts {
			if err := m.Store(p.Page, p.Address, pages[p.Page][p.Address:][:p.Size]); err != nil {
				t.Fatal(err)
			}
		}
	}
	store(FirstParts)
	store(m.MoreParts())
	return m
}

// Offsets and units of SFF-8636 and CMIS.
func TestMemory_Fill(t *testing.T) {
	for _, test := range []struct {
		name   string
		pages  map[uint8][]byte
		serial string
		check  func(*Module) bool
	}{
		{"SFF-8636", sff8636(), "MT1234FT00001", func(r *Module) bool {
			return r.Identifier == QSFP28 && r.Type == CableOptical && r.RxPower[0] == 500 && r.TxPower[3] == 1000 &&
				r.Bias[0] == 3000 && r.Temperature.Celsius() == 45.5 && r.Voltage == 33000
		}},
		{"CMIS", cmis(), "MT2301FT00002", func(r *Module) bool {
			return r.Identifier == OSFP && r.Type == CableOptical && r.RxPower[1] == 500 && r.TxPower[0] == 1000 &&
				r.Bias[7] == 3000 && r.Temperature.Celsius() == 48.25 && r.State == ModuleReady && r.Firmware == 46<<24|110<<16
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r Module
			if err := read(t, test.pages).Fill(&r); err != nil || !test.check(&r) {
				t.Errorf("got %+v, error %v", r, err)
			}
			if got := Clean(r.Serial[:]); got != test.serial {
				t.Errorf("got serial number %q, want %q", got, test.serial)
			}
			if r.TemperatureHigh.Celsius() != 75 || r.TemperatureLow.Celsius() != -5 || r.RxHigh != 3981 || r.RxLow != 158 {
				t.Errorf("got limits %v, %v, %d, %d", r.TemperatureHigh.Celsius(), r.TemperatureLow.Celsius(), r.RxHigh, r.RxLow)
			}
		})
	}
}

// Copper has a page without limits and light.
func TestMemory_Copper(t *testing.T) {
	pages := sff8636()
	put(pages[0], 2, 1<<2)
	put(pages[0], 146, 3, 0xa0)
	m := read(t, pages)
	var r Module
	if err := m.Fill(&r); err != nil || r.Type != CablePassive || r.Length() != 3 || m.MoreParts() != nil {
		t.Errorf("got %v, %g m, further parts %v, error %v", r.Type, r.Length(), m.MoreParts(), err)
	}
}

// Light that has not been read is unknown, not dark.
func TestMemory_NoLight(t *testing.T) {
	for _, pages := range []map[uint8][]byte{sff8636(), cmis()} {
		m := new(Memory)
		for _, part := range FirstParts {
			_ = m.Store(part.Page, part.Address, pages[part.Page][part.Address:][:part.Size])
		}
		var r Module
		if err := m.Fill(&r); err != nil || r.IsOptical() || r.Type != CableOptical {
			t.Errorf("got optical %v, %v, error %v", r.IsOptical(), r.Type, err)
		}
	}
}

// A memory without values is no module, and no part is outside of the memory.
func TestMemory_Errors(t *testing.T) {
	for _, fill := range []byte{0, 0xff} {
		pages := map[uint8][]byte{0: bytes.Repeat([]byte{fill}, 256)}
		if err := read(t, pages).Fill(new(Module)); !errors.Is(err, ErrEmpty) {
			t.Errorf("memory of 0x%02x: got error %v, want %v", fill, err, ErrEmpty)
		}
	}
	pages := sff8636()
	put(pages[0], 0, 0x42)
	if err := read(t, pages).Fill(new(Module)); err == nil {
		t.Error("got no error for an unknown identifier")
	}
	m := new(Memory)
	for _, part := range []MemoryPart{{0, 250, 48}, {0, 100, 48}, {0, 300, 1}} {
		if m.Store(part.Page, part.Address, make([]byte, part.Size)) == nil {
			t.Errorf("got no error for %+v", part)
		}
	}
	if _, err := (&EEPROM{Status: EEPROMNotConnected}).Bytes(); err == nil || err.Error() != "read EEPROM: no module in the connector" {
		t.Errorf("got %v", err)
	}
	if err := CableStatus(mad.Status(3 << 8)); err == nil || err.Error() != "read CableInfo: no cable" {
		t.Errorf("got %v", err)
	}
}
