package oracle

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
)

// An mstregCase is a register that ibkit and mstreg 4.31 read from the same simulated
// device of the fabric "optics": the switch leaf1, or the adapter host2.
type mstregCase struct {
	register register.Register
	name     string // mstreg's --reg_name
	indexes  string // mstreg's --indexes
	op       string // mstreg's --op
	adapter  bool
}

const (
	counterIndexes = "local_port=1,pnat=0,lp_msb=0,swid=0,prio_tc=0,grp_profile=0,plane_ind=0,lp_gl=0,port_type=0,grp="
	pageIndexes    = "local_port=1,pnat=0,plane_ind=0,port_type=0,lp_msb=0,module_ind_type=0,page_select="
)

var mstregCases = []mstregCase{
	{register.NewPhysicalCounters(1), "PPCNT", counterIndexes + "0x12", "", false},
	{register.NewBitErrors(1), "PPCNT", counterIndexes + "0x16", "", false},
	{register.NewFECHistogram(1), "PPCNT", counterIndexes + "0x23", "", false},
	{register.NewLinkState(1), "PDDR", pageIndexes + "0", "", false},
	{register.NewModule(1), "PDDR", pageIndexes + "3", "module_info_ext=1", false},
	{register.NewLinkDown(1), "PDDR", pageIndexes + "6", "", false},
	{register.NewModuleFlags(1), "PDDR", pageIndexes + "9", "", false},
	{&register.PortNumber{LocalPort: 1}, "PLIB", "local_port=1,lp_msb=0", "", false},
	{&register.LaneMapping{LocalPort: 1}, "PMLP", "local_port=1,lp_msb=0,plane_ind=0", "", false},
	{&register.SensorList{}, "MTCAP", "slot_index=0", "", false},
	{&register.Sensor{Number: 1}, "MTMP", "sensor_index=1,slot_index=0,i=0,ig=0,asic_index=0", "", false},
	{&register.Fans{}, "MFCR", "", "", false},
	{&register.FanSpeed{Tachometer: 3}, "MFSM", "tacho=3", "", false},
	{&register.PowerSupplies{}, "MSPS", "", "", false},
	{&register.Device{}, "MGIR", "", "", false},
	{&register.Product{}, "MSGI", "", "", false},
	{register.NewShortCounters(1), "PPCNT", counterIndexes + "0x20", "", false},
	{register.NewLongCounters(1), "PPCNT", counterIndexes + "0x21", "", false},
	{register.NewRetransmission(1), "PPCNT", counterIndexes + "0x22", "", false},
	{register.NewPacketCounters(1), "PPCNT", counterIndexes + "0x25", "", false},
	{&register.PortStatus{LocalPort: 1}, "PAOS", "swid=0,local_port=1,lp_msb=0,plane_ind=0", "", false},
	{register.NewLinkRates(1), "PTYS", "local_port=1,proto_mask=1,lp_msb=0,port_type=0", "", false},
	{&register.ActiveFEC{LocalPort: 1}, "PPLM", "local_port=1,lp_msb=0,pnat=0,port_type=0,plane_ind=0,test_mode=0", "", false},
	{&register.ModuleStatus{Module: 0}, "PMAOS", "module=0,slot_index=0", "", false},
	{&register.Eye{LocalPort: 1, Lane: 1}, "SLRG", "local_port=1,lp_msb=0,pnat=0,lane=1,port_type=0,all_lanes=0", "", false},
	{&register.BERMonitor{LocalPort: 1}, "PPBMC", "local_port=1,lp_msb=0,pnat=0,port_type=0", "", false},
	{&register.ModuleCount{}, "MGPIR", "slot_index=0", "", false},
	{&register.Temperatures{First: register.FirstModuleSensor, Count: 8}, "MTBR", "base_sensor_index=64,slot_index=0", "num_rec=8", false},
	{&register.FanLimits{Tachometer: 3}, "MFSL", "tacho=3", "", false},
	{register.NewEEPROM(0, 0, 128, 48), "MCIA", "module=0,i2c_device_address=0x50,page_number=0,device_address=128,slot_index=0,bank_number=0,size=48", "", false},
	{register.NewPortRegisters(), "PCAM", "access_reg_group=0,feature_group=0", "", false},
	{register.NewPlatformRegisters(2), "MCAM", "access_reg_group=2,feature_group=0", "", false},
	{&register.PCIeLink{}, "MPEIN", "pcie_index=0,depth=0,node=0", "", true},
	{&register.PCIeCounters{}, "MPCNT", "grp=0,pcie_index=0,depth=0,node=0", "", true},
}

// diesCase is group 0x24, which the tables of mstreg 4.31 do not have any more.
var diesCase = mstregCase{register.NewDieCounters(1), "PPCNT", "local_port=1,pnat=0,lp_msb=0,swid=0,prio_tc=0,grp=0x24", "", false}

// file returns the recording's file name.
func (c *mstregCase) file() string {
	return filepath.Join("testdata", "mstreg", strings.ReplaceAll(c.register.Part().String(), " ", "-")+".txt")
}

// mstregFields are the values that mstreg prints, by name without case and punctuation.
// Pages of a register share some names.
type mstregFields map[string][]uint64

// parseMstreg parses mstreg's table.
func parseMstreg(t *testing.T, text string) mstregFields {
	t.Helper()
	fields := mstregFields{}
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		name, value, ok := strings.Cut(s.Text(), "|")
		v, err := strconv.ParseUint(strings.TrimSpace(value), 0, 32)
		if !ok || err != nil {
			continue
		}
		key := plain(name)
		fields[key] = append(fields[key], v)
	}
	if len(fields) == 0 {
		t.Fatalf("got no fields:\n%s", text)
	}
	return fields
}

// plain returns a name in lower case without punctuation.
func plain(name string) string {
	return strings.NewReplacer("_", "", "[", "", "]", "", " ", "").Replace(strings.ToLower(name))
}

// lostFields end after byte 188 of a block. Under libumad2sim.so, mstreg has other bytes
// there than the packet that it received (strace shows the packet).
var lostFields = map[string]bool{
	"vendoroui": true, "linkdownevents": true, "successfulrecoveryevents": true,
	"datecode4": true, "datecode5": true, "datecode6": true, "datecode7": true,
	"rsfeccorrectedsymbolslane2": true, "rsfeccorrectedsymbolslane3": true,
}

// isLost reports whether mstreg has other bytes in a field: also in the records of MTBR there.
func isLost(key string) bool {
	const first, end = 43, 51
	base, index := splitIndex(key)
	return lostFields[key] || strings.HasSuffix(base, "temperature") && index >= first && index < end
}

// compareMstreg compares a register's bytes, as ibkit read them, with mstreg's fields. It
// returns the lines of mstreg's fields that were compared.
func compareMstreg(t *testing.T, r register.Register, data []byte, fields mstregFields) {
	t.Helper()
	if err := register.Check(r, data); err != nil {
		t.Fatal(err)
	}
	compared := 0
	mad.Visit(r, func(name string, width int, v uint64) uint64 {
		key := plain(name)
		if isLost(key) {
			return v
		}
		got := fields.lookup(key, width)
		if len(got) == 0 {
			t.Errorf("mstreg has no field %s", name)
			return v
		}
		for _, other := range got {
			if near(v, other, width) {
				compared++
				return v
			}
		}
		t.Errorf("%s: got %#x, mstreg has %#x", name, v, got)
		return v
	})
	if compared == 0 {
		t.Error("no field was compared")
	}
}

// near reports whether values are equal or, for counters, differ by the time between two
// reads: counters of the simulated hour grow by a few seconds' part.
func near(a, b uint64, width int) bool {
	high, low := max(a, b), min(a, b)
	return a == b || width >= 32 && float64(high-low) < float64(high)*0.05
}

// lookup returns the values of a field: mstreg splits 64 bits into halves, and texts into
// words of four characters.
func (f mstregFields) lookup(key string, width int) []uint64 {
	switch base, index := splitIndex(key); {
	case width == 64:
		return f.halves(key)
	case width == 8 && index >= 0:
		all := append([]uint64{}, f[key]...)
		words := f[base+strconv.Itoa(index/4)]
		if index < 4 {
			words = append(append(words[:len(words):len(words)], f[base]...), f[base+"hi"]...)
		} else if index < 8 {
			words = append(words[:len(words):len(words)], f[base+"lo"]...)
		}
		for _, w := range words {
			all = append(all, w>>(24-index%4*8)&0xff)
		}
		return all
	}
	return f[key]
}

// halves returns the 64-bit values of a field.
func (f mstregFields) halves(key string) []uint64 {
	var all []uint64
	for _, names := range [][2]string{{"high", "low"}, {"hi", "lo"}} {
		high, low := f[key+names[0]], f[key+names[1]]
		for i := range min(len(high), len(low)) {
			all = append(all, high[i]<<32|low[i])
		}
	}
	return all
}

// splitIndex splits the number at a name's end off, -1 for none.
func splitIndex(name string) (base string, index int) {
	base = strings.TrimRight(name, "0123456789")
	index, err := strconv.Atoi(name[len(base):])
	if err != nil {
		return name, -1
	}
	return base, index
}

// TestMstreg_Recorded compares the recorded bytes with the recorded fields.
func TestMstreg_Recorded(t *testing.T) {
	for _, c := range append(slices.Clone(mstregCases), diesCase) {
		t.Run(c.register.Part().String(), func(t *testing.T) {
			text, err := os.ReadFile(c.file())
			if err != nil {
				t.Fatal(err)
			}
			first, rest, _ := strings.Cut(string(text), "\n")
			data, err := hex.DecodeString(first)
			if err != nil {
				t.Fatal(err)
			}
			compareMstreg(t, c.register, data, parseMstreg(t, rest))
		})
	}
}

// recording returns the file's content: the bytes, and the fields that ibkit has, too.
func (c *mstregCase) recording(data []byte, output string) []byte {
	ours := map[string]bool{}
	mad.Visit(c.register, func(name string, _ int, v uint64) uint64 {
		base, _ := splitIndex(plain(name))
		ours[base], ours[plain(name)] = true, true
		return v
	})
	text := fmt.Appendf(nil, "%x\n", data)
	for line := range strings.Lines(output) {
		name, _, ok := strings.Cut(line, "|")
		key := plain(name)
		base, _ := splitIndex(key)
		for _, half := range []string{"", "high", "low", "hi", "lo"} {
			short, _ := splitIndex(strings.TrimSuffix(key, half))
			if ok && strings.HasSuffix(key, half) && (ours[strings.TrimSuffix(key, half)] || ours[base] || ours[short]) {
				text = append(text, line...)
				break
			}
		}
	}
	return text
}
