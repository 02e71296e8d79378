package sim

import (
	"testing"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/umad"
)

// readBlock reads a register's blocks by Gets.
func readBlock(t *testing.T, p umad.Port, lid ib.LID, r register.Register) mad.Status {
	t.Helper()
	request := make([]byte, r.Spec().Size)
	if err := mad.Encode(r, request); err != nil {
		t.Fatal(err)
	}
	var data []byte
	for number := 0; len(data) < len(request); number++ {
		b := register.Block{Number: uint16(number)}
		copy(b.Data[:], request[:min(len(request), 12)])
		if status, ok := requestMlnx(t, p, lid, &b, uint32(r.Part().ID)); !ok || status != 0 {
			return status
		}
		data = append(data, b.Data[:]...)
	}
	if err := register.Check(r, data); err != nil {
		t.Fatal(err)
	}
	return 0
}

func requestMlnx(t *testing.T, p umad.Port, lid ib.LID, a mad.Attribute, modifier uint32) (mad.Status, bool) {
	t.Helper()
	return request(t, p, lid, mad.ClassMlnx, mad.MethodGet, a, modifier)
}

func opticsFabric(t *testing.T) (*Fabric, umad.Port) {
	t.Helper()
	f := build(t, "optics")
	p, err := f.Open("host1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return f, p
}

// The faults of the preset are in the registers.
func TestRegisters_Faults(t *testing.T) {
	f, p := opticsFabric(t)
	lid := func(name string) ib.LID { return f.Node(name).Ports[0].Info.LID }
	local := func(name string, port int) register.LocalPort { return f.Node(name).Ports[port].local() }

	t.Run("dirty fibre", func(t *testing.T) {
		m, peer := register.NewModule(local("leaf1", 1)), register.NewModule(local("spine1", 1))
		readBlock(t, p, lid("leaf1"), m)
		readBlock(t, p, lid("spine1"), peer)
		if m.RxPower[0] >= m.RxLow || m.TxPower[0] < 1000 || peer.RxPower[0] <= peer.RxLow || peer.TxPower[0] < 1000 {
			t.Errorf("got rx %d, tx %d, rx of the peer %d, tx %d", m.RxPower[0], m.TxPower[0], peer.RxPower[0], peer.TxPower[0])
		}
		b := register.NewBitErrors(local("leaf1", 1))
		readBlock(t, p, lid("leaf1"), b)
		if b.RawBER != (register.BER{Coefficient: 6, Magnitude: 5}) || b.EffectiveBER.Value() < 1e-9 || b.SymbolErrors < 900_000 {
			t.Errorf("got %v, %v, %d symbol errors", b.RawBER, b.EffectiveBER, b.SymbolErrors)
		}
		d := register.NewLinkDown(local("leaf1", 1))
		readBlock(t, p, lid("leaf1"), d)
		if d.Blame != 1 || d.Local.String() != "high error rate" {
			t.Errorf("got %v, %v", d.Blame, d.Local)
		}
	})
	t.Run("hot module", func(t *testing.T) {
		m := register.NewModule(local("spine2", 1))
		readBlock(t, p, lid("spine2"), m)
		if got := m.Temperature.Celsius(); got != 78.5 || m.TemperatureHigh.Celsius() != 75 {
			t.Errorf("got %g °C of %g", got, m.TemperatureHigh.Celsius())
		}
	})
	t.Run("unplugged", func(t *testing.T) {
		for port := 1; port <= 16; port++ {
			r := register.NewTrouble(local("leaf2", port))
			m := register.NewModule(local("leaf2", port))
			readBlock(t, p, lid("leaf2"), r)
			readBlock(t, p, lid("leaf2"), m)
			if c, _ := f.Node("leaf2").Ports[port].cage(); c.port() == nil && (r.Opcode != 1024 || m.HasModule()) {
				t.Errorf("port %d: got opcode %d, module %v", port, r.Opcode, m.Type)
			}
		}
	})
	t.Run("platform", func(t *testing.T) {
		fan := &register.FanSpeed{Tachometer: 3}
		readBlock(t, p, lid("leaf2"), fan)
		var supplies register.PowerSupplies
		readBlock(t, p, lid("spine1"), &supplies)
		if fan.RPM != 0 || !supplies.Units[0].IsGood() || supplies.Units[1].IsGood() || !supplies.Units[1].IsPresent() {
			t.Errorf("got %d rpm, supplies %v, %v", fan.RPM, supplies.Units[0].IsGood(), supplies.Units[1].IsGood())
		}
	})
}

// Correction and retransmission only remove errors: no rate is above the rate before.
func TestRegisters_Rates(t *testing.T) {
	f := build(t, "demo")
	for _, n := range f.Nodes {
		for i := range n.Ports {
			b := f.bitErrors(&n.Ports[i])
			if b.RawBER.Value() < b.EffectiveBER.Value() || b.EffectiveBER.Value() < b.SymbolBER.Value() || b.EffectiveErrors < b.SymbolErrors {
				t.Errorf("%s[%d]: got raw %v, effective %v (%d errors), symbol %v (%d)",
					n.ID, i, b.RawBER, b.EffectiveBER, b.EffectiveErrors, b.SymbolBER, b.SymbolErrors)
			}
		}
	}
}

// Both ends of a cable with a fixed length have its serial number.
func TestRegisters_Serial(t *testing.T) {
	f, _ := opticsFabric(t)
	for _, n := range f.Nodes {
		for i := range n.Ports {
			if p := &n.Ports[i]; p.Peer != nil && !n.IsSwitch() {
				if a, b := p.module(), p.Peer.module(); a.Serial != b.Serial || a.Type != b.Type {
					t.Errorf("%v: got %s %v, and %s %v", p, a.Serial, a.Type, b.Serial, b.Type)
				}
			}
		}
	}
}

// Devices reject registers with the status of the packet that asks.
func TestRegisters_Rejected(t *testing.T) {
	f, p := opticsFabric(t)
	lid := f.Node("leaf1").Ports[0].Info.LID
	do(t, f, "registers leaf1 0x900d")
	if got := readBlock(t, p, lid, &register.PowerSupplies{}); register.BlockStatus(got) != register.StatusNoRegister {
		t.Errorf("got status %#x", got)
	}
	if got := readBlock(t, p, lid, register.NewModule(999)); register.BlockStatus(got) != register.StatusBadParameter {
		t.Errorf("port 999: got status %#x", got)
	}
	do(t, f, "registers leaf1 old")
	if got := readBlock(t, p, lid, &register.Device{}); got != mad.StatusBadMethodAttr {
		t.Errorf("old firmware: got status %#x", got)
	}
	var general mad.MlnxGeneralInfo
	if requestMlnx(t, p, lid, &general, 0); general.Capabilities&mad.MlnxCapRegister != 0 {
		t.Error("old firmware: got the capability of blocks")
	}
	a := register.Access{Head: register.NewHead(register.IDMGIR, 0xa0, mad.ClassMlnx)}
	mustAsk(t, p, lid, mad.ClassMlnx, mad.MethodSet, &a, 0)
	var device register.Device
	if err := mad.Decode(&device, a.Data[:]); err != nil || a.Status != 0 || device.HardwareID != 0x257 {
		t.Errorf("got status %v, device %#x, error %v", a.Status, device.HardwareID, err)
	}
	s := register.SubnetAccess{Head: register.NewHead(register.IDMTMP, 0x20, mad.ClassSMPLIDRouted)}
	mustAsk(t, p, lid, mad.ClassSMPLIDRouted, mad.MethodSet, &s, 0)
	var asic register.Sensor
	if err := mad.Decode(&asic, append(s.Data[:], 0)); err != nil || asic.Temperature.Celsius() < 50 {
		t.Errorf("got %+v, error %v", asic, err)
	}
	a.Operation = register.Write
	mustAsk(t, p, lid, mad.ClassMlnx, mad.MethodSet, &a, 0)
	if a.Status != register.StatusBadOperation {
		t.Errorf("write: got %v", a.Status)
	}
	do(t, f, "registers leaf1 new")
	if got := readBlock(t, p, lid, &register.PowerSupplies{}); got != 0 {
		t.Errorf("new firmware: got status %#x", got)
	}
}

// The commands for optics and platforms take effect.
func TestRegisters_Commands(t *testing.T) {
	f, _ := opticsFabric(t)
	for _, command := range []string{"optics leaf2[1] dark", "fan leaf1 2 1500", "psu leaf1 0 off"} {
		do(t, f, command)
	}
	leaf1, port := f.Node("leaf1"), &f.Node("leaf2").Ports[1]
	if port.Peer.rxPower(0) != 0 || port.flags().TxFault != 1 || leaf1.vendor.platform.rpm[2] != 1500 || !leaf1.vendor.platform.lost[0] {
		t.Error("the commands have no effect")
	}
	do(t, f, "optics leaf2[1] ok")
	if port.Peer.rxPower(0) == 0 {
		t.Error("got no light after ok")
	}
	for _, command := range []string{"optics leaf2[1] cold", "fan leaf1 9 5", "fan host1 1 5", "psu leaf1 2", "registers leaf1", "registers leaf1 0x10000"} {
		if _, err := f.ParseCommand("test", 1, command); err == nil {
			t.Errorf("%s: got no error", command)
		}
	}
}

// The gateway in configuration space grants access to all registers, by both classes.
func TestConfigSpace_Gateway(t *testing.T) {
	f, p := opticsFabric(t)
	n := f.Node("leaf1")
	if got := f.readWord(n, configHardwareID); got != 0xa00257 {
		t.Errorf("got hardware %#x, want 0xa00257", got)
	}
	if got := f.readWord(n, gatewaySwitch); got != 1<<24|mailbox {
		t.Errorf("got mailbox %#x", got)
	}
	n.writeWord(mailboxControl, opcodeAccessLevel<<16|controlBusy, 1<<32-1)
	if control, word := f.readWord(n, mailboxControl), f.readWord(n, mailbox); control&(controlBusy|0xff00) != 0 || word&allRegisters == 0 {
		t.Errorf("got control %#x, mailbox %#x", control, word)
	}
	m := &umad.Message{Addr: umad.Addr{LID: n.Ports[0].Info.LID}}
	m.MAD.PutSMP(mad.SMPRequest{Method: mad.MethodGet, Attr: mad.AttrMlnxConfigSpaceSMP, Modifier: 0x0f010014})
	if err := p.Send(m); err != nil {
		t.Fatal(err)
	}
	if err := p.Recv(m, time.Now()); err != nil || word(m.MAD.Data(), 8) != 0xa00257 {
		t.Errorf("got %#x, error %v", word(m.MAD.Data(), 8), err)
	}
}

// The registers of eyes, monitors, modules, fans and PCI Express have the faults, too.
func TestRegisters_Quality(t *testing.T) {
	f, p := opticsFabric(t)
	lid := func(name string) ib.LID { return f.Node(name).Ports[0].Info.LID }
	leaf, bad, good := lid("leaf1"), f.Node("leaf1").Ports[1].local(), f.Node("leaf1").Ports[2].local()
	host := f.Node("host2")
	host.vendor.platform.narrow = true
	read := func(name string, at ib.LID, r register.Register, check func() bool) {
		t.Helper()
		if status := readBlock(t, p, at, r); status != 0 || !check() {
			t.Errorf("%s: got status %v, %+v", name, status, r)
		}
	}
	small, open := &register.Eye{LocalPort: bad, Lane: 3}, &register.Eye{LocalPort: good}
	read("small eye", leaf, small, func() bool { return small.IsKnown() && small.Upper == 31 && small.Lower == 26 })
	read("open eye", leaf, open, func() bool { return open.IsKnown() && open.Upper == 62 })
	alarm, normal := &register.BERMonitor{LocalPort: bad}, &register.BERMonitor{LocalPort: good}
	read("alarm", leaf, alarm, func() bool { return alarm.State == register.MonitorAlarm })
	read("no alarm", leaf, normal, func() bool { return normal.State == register.MonitorNormal })
	long, short := register.NewLongCounters(bad), register.NewShortCounters(bad)
	read("64 bits", leaf, long, func() bool { return long.Values[0] >= 900_000 })
	read("16 bits", leaf, short, func() bool { return short.SymbolErrors == 65535 })
	packets := register.NewPacketCounters(bad)
	read("packets", leaf, packets, func() bool { return packets.Values[0] > 0 })
	count := &register.ModuleCount{}
	read("modules", leaf, count, func() bool { return int(count.Modules) == (len(f.Node("leaf1").Ports)-1)/2 })
	heat := &register.Temperatures{First: register.FirstModuleSensor, Count: 1}
	read("heat", lid("spine2"), heat, func() bool { return heat.Records[0].Temperature.Celsius() == 78.5 })
	fan := &register.FanLimits{Tachometer: 2}
	read("fan", leaf, fan, func() bool { return fan.Low == 5000 && fan.High == 14000 })
	link, errors := &register.PCIeLink{}, &register.PCIeCounters{}
	read("link", host.Ports[1].Info.LID, link, func() bool {
		return link.WidthActive == 8 && link.WidthEnabled == 16 && link.SpeedActive.Generation() == 5
	})
	read("errors", host.Ports[1].Info.LID, errors, func() bool { return errors.Errors() == 20 })
}

// A module's memory has the values of its register, by MCIA and by CableInfo.
func TestRegisters_Memory(t *testing.T) {
	f, p := opticsFabric(t)
	for _, name := range []string{"leaf1", "spine2", "host1"} {
		n := f.Node(name)
		port := &n.Ports[1]
		c, _ := port.cage()
		lid := n.Ports[managementPort(port)].Info.LID
		parts := map[string]func(register.MemoryPart) []byte{
			"MCIA": func(part register.MemoryPart) []byte {
				r := register.NewEEPROM(uint8(c.number-1), part.Page, part.Address, part.Size)
				readBlock(t, p, lid, r)
				b, err := r.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				return b
			},
			"CableInfo": func(part register.MemoryPart) []byte {
				a := register.NewCableInfo(part.Page, part.Address, part.Size)
				if status, ok := request(t, p, lid, mad.ClassSMPLIDRouted, mad.MethodGet, a, 1); !ok || status != 0 {
					t.Fatalf("got status %v", status)
				}
				return a.Data[:a.Size]
			},
		}
		for carrier, read := range parts {
			t.Run(carrier+" "+name, func(t *testing.T) {
				var m register.Memory
				for _, part := range register.FirstParts {
					_ = m.Store(part.Page, part.Address, read(part))
				}
				for _, part := range m.MoreParts() {
					_ = m.Store(part.Page, part.Address, read(part))
				}
				want, got := port.module(), register.NewModule(port.local())
				if err := m.Fill(got); err != nil {
					t.Fatal(err)
				}
				if got.Serial != want.Serial || got.Type != want.Type || got.Identifier != want.Identifier || got.Temperature != want.Temperature ||
					got.RxPower[0] != want.RxPower[0] || got.RxLow != want.RxLow || got.Length() != want.Length() {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		}
	}
}

// managementPort returns the port with the node's LID.
func managementPort(p *Port) int {
	if p.Node.IsSwitch() {
		return 0
	}
	return int(p.Number)
}
