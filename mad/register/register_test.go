package register

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/mad"
)

// all returns a register of each kind.
func all() []Register {
	return []Register{
		NewPhysicalCounters(1), NewBitErrors(1), NewRetransmission(1), NewFECHistogram(1),
		NewLinkState(1), NewTrouble(1), NewModule(1), NewLinkDown(1), NewModuleFlags(1),
		&PortNumber{LocalPort: 1}, &LaneMapping{LocalPort: 1}, &PortStatus{LocalPort: 1}, NewLinkRates(1),
		&ActiveFEC{LocalPort: 1}, &ModuleStatus{Module: 1}, &SensorList{}, &Sensor{Number: 64}, &Fans{},
		&FanSpeed{Tachometer: 1}, &PowerSupplies{}, &Device{}, &Product{}, NewPortRegisters(), NewPlatformRegisters(2),
		NewShortCounters(1), NewLongCounters(1), NewPacketCounters(1), NewDieCounters(1), &Eye{LocalPort: 1}, &BERMonitor{LocalPort: 1}, &ModuleCount{},
		&Temperatures{First: FirstModuleSensor, Count: 2}, &FanLimits{Tachometer: 1}, &PCIeLink{}, &PCIeCounters{}, NewEEPROM(1, 0, 128, 48),
	}
}

// Names have the page, as NVIDIA's tools name it.
func TestPart(t *testing.T) {
	for _, test := range []struct {
		r    Register
		want string
	}{{NewModule(3), "PDDR page 3"}, {NewPhysicalCounters(1), "PPCNT group 0x12"}, {&Sensor{Number: 64}, "MTMP"}, {&Fans{}, "MFCR"}} {
		t.Run(test.want, func(t *testing.T) {
			if got := test.r.Part().String(); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func carriers() []mad.Attribute {
	return []mad.Attribute{&Block{}, &Access{}, &SubnetAccess{}, &CableInfo{}}
}

func bytesOf(t *testing.T, a mad.Attribute) []byte {
	t.Helper()
	b := make([]byte, a.Spec().Size)
	if err := mad.Encode(a, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// Each bit comes back as it was or, if reserved, not at all: fields do not overlap.
func TestEachBit(t *testing.T) {
	for _, r := range all() {
		t.Run(r.Part().String(), func(t *testing.T) {
			kept := 0
			for bit := range r.Spec().Size * 8 {
				in, out := make([]byte, r.Spec().Size), make([]byte, r.Spec().Size)
				in[bit/8] = 0x80 >> (bit % 8)
				if err := mad.Decode(r, in); err != nil {
					t.Fatal(err)
				}
				if err := mad.Encode(r, out); err != nil {
					t.Fatal(err)
				}
				switch {
				case bytes.Equal(in, out):
					kept++
				case !bytes.Equal(out, make([]byte, len(out))):
					t.Errorf("bit %d came back as % x", bit, out)
				}
			}
			if kept == 0 {
				t.Error("no bit is kept")
			}
		})
	}
}

// A request has the index fields that mstlink sends.
func TestRequests(t *testing.T) {
	for _, test := range []struct {
		r    Register
		want string // first 12 bytes
	}{
		{NewBitErrors(1), "000100160000000000000000"},
		{NewPhysicalCounters(130), "008200120000000000000000"},
		{NewLinkState(1), "000100000000000000000000"},
		{NewTrouble(1), "000100000000000100000000"},
		{NewModule(0x102), "000210002000000300000000"},
		{&PortNumber{LocalPort: 3}, "000300000000000000000000"},
		{NewLinkRates(1), "000100010000000000000000"},
		{&Sensor{Number: 64}, "000000400000000000000000"},
		{&FanSpeed{Tachometer: 2}, "0200000000000000"},
		{&ModuleStatus{Module: 5}, "000500000000000000000000"},
		{NewPortRegisters(), "000000000000000000000000"},
		{NewPlatformRegisters(2), "000000020000000000000000"},
		{NewShortCounters(1), "000100200000000000000000"},
		{NewLongCounters(1), "000100210000000000000000"},
		{NewPacketCounters(1), "000100250000000000000000"},
		{NewDieCounters(1), "000100240000000000000000"},
		{&Eye{LocalPort: 3, Lane: 2}, "000302000000000000000000"},
		{&BERMonitor{LocalPort: 3}, "000300000000000000000000"},
		{&Temperatures{First: 64, Count: 32}, "000000400000002000000000"},
		{&FanLimits{Tachometer: 2}, "020000000000000000000000"},
		{NewEEPROM(5, 0x11, 154, 48), "000500005011009a00000030"},
	} {
		t.Run(test.r.Part().String(), func(t *testing.T) {
			b := bytesOf(t, test.r)
			if got := hex.EncodeToString(b[:min(len(b), 12)]); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// The packets have the bytes that mstflint 4.31 sends.
func TestCarriers(t *testing.T) {
	for _, test := range []struct {
		name string
		a    mad.Attribute
		want string
	}{
		{"class A", &Access{Head: NewHead(IDPPLM, 0x78, mad.ClassMlnx)}, "0000000000000000 08040000 5023010a 0000000000000000 181f0000 00000000"},
		{"SMP", &SubnetAccess{Head: NewHead(IDMTCAP, 0x10, mad.ClassSMPLIDRouted)}, "08040000 90090101 0000000000000000 18050000 00000000"},
		{"CableInfo", NewCableInfo(0, 128, 48), "50000080 00000030 00000000 00000000"},
		{"second block", &Block{Number: 1, Data: [BlockSize]uint8{0, 1, 0, 0x16}}, "0000000000000000 00010000 00010016"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := strings.ReplaceAll(test.want, " ", "")
			b := bytesOf(t, test.a)
			if got := hex.EncodeToString(b[:len(want)/2]); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// A reply for another port or page, and one without values, are errors and leave the
// register as it was.
func TestCheck(t *testing.T) {
	good := NewModule(3)
	good.RxPower[1] = 500
	other := NewModule(4)
	unset := append(bytesOf(t, NewModule(3))[:8], bytes.Repeat([]byte{0xff}, BlockSize-8)...)
	for _, test := range []struct {
		name  string
		data  []byte
		wrong string
	}{
		{"good", bytesOf(t, good), ""},
		{"other port", bytesOf(t, other), "got index {LocalPort:4 Page:3}, want {LocalPort:3 Page:3}"},
		{"unset", unset, "all bits of the reply are set"},
		{"short", make([]byte, 20), "220 bytes wanted, got 20"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := NewModule(3)
			err := Check(r, test.data)
			switch {
			case test.wrong == "" && (err != nil || r.RxPower[1] != 500):
				t.Errorf("got %v, error %v", r.RxPower, err)
			case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
				t.Errorf("got error %v, want %s", err, test.wrong)
			case test.wrong != "" && r.LocalPort != 3:
				t.Errorf("got port %d, want 3", r.LocalPort)
			}
		})
	}
	if err := Check(NewModule(3), unset); !errors.Is(err, ErrUnset) {
		t.Errorf("got error %v, want ErrUnset", err)
	}
}

func TestBER(t *testing.T) {
	for _, test := range []struct {
		b     BER
		value float64
		text  string
	}{
		{BER{3, 9}, 3e-9, "3E-9"}, {BER{15, 255}, 0, "15E-255"}, {BER{0, 12}, 0, "0E-12"}, {BER{1, 254}, 1e-254, "1E-254"},
	} {
		t.Run(test.text, func(t *testing.T) {
			if got := test.b.Value(); math.Abs(got-test.value) > test.value*1e-9 || test.b.String() != test.text {
				t.Errorf("got %g, %s, want %g", got, test.b, test.value)
			}
		})
	}
	for v, want := range map[float64]BER{3.2e-9: {3, 9}, 9.7e-9: {1, 8}, 0: {15, 255}, 1e-15: {1, 15}, math.NaN(): {15, 255}} {
		if got := NewBER(v); got != want {
			t.Errorf("NewBER(%g): got %v, want %v", v, got, want)
		}
	}
}

func TestModule_DBm(t *testing.T) {
	micro := Module{RxHigh: 3981, TxHigh: 3981}
	coarse := Module{RxHigh: 6, RxLow: 0xfff6}
	for _, test := range []struct {
		name string
		m    *Module
		p    Power
		want float64
		ok   bool
	}{
		{"microwatts", &micro, 1000, 0, true}, {"half", &micro, 500, -3.0103, true}, {"dark", &micro, 0, 0, false},
		{"dBm", &coarse, 0xfffd, -3, true}, {"no limits", &Module{}, 2000, 3.0103, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := test.m.DBm(test.p); ok != test.ok || math.Abs(got-test.want) > 1e-4 {
				t.Errorf("got %g, %v, want %g, %v", got, ok, test.want, test.ok)
			}
		})
	}
}

// Lengths have a multiplier in CMIS modules only.
func TestModule_Length(t *testing.T) {
	for _, test := range []struct {
		name string
		m    Module
		want float64
	}{
		{"tenths", Module{Identifier: OSFP, RawLength: 0x1e}, 3}, {"metres", Module{Identifier: QSFPCMIS, RawLength: 0x43}, 3},
		{"tens", Module{Identifier: QSFPDD, RawLength: 0x83}, 30}, {"hundreds", Module{Identifier: OSFP, RawLength: 0xc1}, 100},
		{"not CMIS", Module{Identifier: QSFP28, RawLength: 0x43}, 67},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.m.Length(); math.Abs(got-test.want) > 1e-9 {
				t.Errorf("got %g, want %g", got, test.want)
			}
		})
	}
}

// A list has the registers of its group only, and is unknown if it is empty.
func TestRegisterList_Has(t *testing.T) {
	ports := NewPortRegisters()
	copyOf := func(r *List, words ...uint32) *List { copy(r.Mask[:], words); return r }
	for _, test := range []struct {
		name       string
		list       *List
		id         ID
		has, known bool
	}{
		{"empty", ports, IDPPCNT, false, false},
		{"first word", copyOf(NewPortRegisters(), 0, 0, 0, 1<<8), IDPPCNT, true, true},
		{"other bit", copyOf(NewPortRegisters(), 0, 0, 0, 1<<8), IDPMLP, false, true},
		{"second word", copyOf(NewPortRegisters(), 0, 0, 1<<17, 0), IDPDDR, true, true},
		{"platform", copyOf(NewPortRegisters(), 0, 0, 0, 1), IDMTMP, false, false},
		{"group 0", copyOf(NewPlatformRegisters(0), 0, 0, 0, 1<<10), IDMTMP, true, true},
		{"other group", copyOf(NewPlatformRegisters(2), 0, 0, 0, 1<<10), IDMTMP, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if has, known := test.list.Has(test.id); has != test.has || known != test.known {
				t.Errorf("got %v, %v, want %v, %v", has, known, test.has, test.known)
			}
		})
	}
	ports.Add(IDPDDR)
	if ports.Mask != [4]uint32{0, 0, 1 << 17, 0} {
		t.Errorf("got %x", ports.Mask)
	}
}

func TestTemperatures(t *testing.T) {
	if got := Celsius256(0x2380).Celsius(); got != 35.5 {
		t.Errorf("got %g, want 35.5", got)
	}
	if got := Celsius256(0xff00).Celsius(); got != -1 {
		t.Errorf("got %g, want -1", got)
	}
	if got := Celsius8(0xffff).Celsius(); got != -0.125 {
		t.Errorf("got %g, want -0.125", got)
	}
}

func TestPowerSupply(t *testing.T) {
	p := NewPowerSupply(289, "MT2025X00012")
	if !p.IsPresent() || !p.IsGood() || p.Serial() != "MT2025X00012" || p.Watts() != 289 || p[2] != 0x80000121 {
		t.Errorf("got %v, %v, %q, %d W", p.IsPresent(), p.IsGood(), p.Serial(), p.Watts())
	}
	if p := (PowerSupply{}); p.IsPresent() || p.IsGood() || p.Serial() != "" || p.Watts() != 0 {
		t.Error("got a supply from zeros")
	}
	for state, want := range map[uint32][2]bool{2: {true, true}, 0: {false, true}, 3: {false, false}} {
		supply := PowerSupply{1: 0xf0 | state}
		if good, known := supply.FanIsGood(); good != want[0] || known != want[1] {
			t.Errorf("fan state %d: got good %t, known %t, want %v", state, good, known, want)
		}
	}
}

func TestBlockStatus(t *testing.T) {
	for status, want := range map[mad.Status]AccessStatus{1: StatusBusy, 4: StatusBadClass, 12: StatusBadOperation, 20: StatusNoRegister, 28: StatusBadParameter, 0x100: StatusInternalError} {
		if got := BlockStatus(status); got != want {
			t.Errorf("%d: got %v, want %v", status, got, want)
		}
	}
}

// Undefined values have names, so that no reply is without a text.
func TestNames(t *testing.T) {
	for v := range 1 << 11 {
		for _, name := range []string{
			FEC(v).String(), PhyState(v).String(), CableType(v).String(), Identifier(v).String(), ModuleState(v).String(),
			DataPathState(v).String(), Blame(v).String(), DownReason(v).String(), TroubleCode(v).String(), ID(v).String(), AccessStatus(v).Error(),
		} {
			if name == "" {
				t.Fatalf("%d has no name", v)
			}
		}
	}
	if got := FEC(99).String(); got != "undefined (99)" {
		t.Errorf("got %s", got)
	}
}

// No bytes make a decoder panic, and decoded fields can be encoded and are JSON.
func FuzzDecode(f *testing.F) {
	f.Add(make([]byte, mad.Size))
	f.Add(bytes.Repeat([]byte{0xff}, mad.Size))
	f.Fuzz(func(t *testing.T, data []byte) {
		attributes := carriers()
		for _, r := range all() {
			_ = Check(r, data) // an error of short data
			attributes = append(attributes, r)
		}
		for _, a := range attributes {
			if mad.Decode(a, data) != nil {
				continue
			}
			if text, err := mad.AppendJSON(nil, a); err != nil || !json.Valid(text) {
				t.Errorf("%T: %v: %s", a, err, text)
			}
			if m, ok := a.(*Module); ok {
				m.DBm(m.RxPower[0])
				m.Milliamperes(m.Bias[0])
				m.Length()
			}
			if e, ok := a.(*EEPROM); ok {
				fuzzMemory(t, e)
			}
		}
	})
}

// fuzzMemory decodes a module with arbitrary memory.
func fuzzMemory(t *testing.T, e *EEPROM) {
	data, err := e.Bytes()
	if err != nil {
		return
	}
	var m Memory
	if m.Store(e.Page, e.Address, data) == nil {
		m.MoreParts()
		if err := m.Fill(new(Module)); err == nil && m.lower[0] == 0 {
			t.Error("got a module without an identifier")
		}
	}
}
