package phy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
	"github.com/ibkit/ibkit/report"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/umadtest"
)

// A rig is the simulated fabric with faults of cables and devices.
type rig struct {
	*sim.Fabric
	umadtest.Tamper
	o Options
}

func newRig(t *testing.T, description string) *rig {
	t.Helper()
	f, err := sim.Build(description)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Fabric: f}
	r.o = Options{Source: fabric.Source{OpenPort: r.Tamper.Opener(f.Open), Client: umad.ClientOptions{Timeout: time.Millisecond, Attempts: 2}}}
	return r
}

func (r *rig) run(t *testing.T) *Result {
	t.Helper()
	result, err := Run(t.Context(), r.o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (r *rig) do(t *testing.T, command string) {
	t.Helper()
	c, err := r.ParseCommand("test", 1, command)
	if err == nil {
		err = r.Do(c, io.Discard)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// end returns a link end.
func end(t *testing.T, r *Result, name string, port uint8) *End {
	t.Helper()
	for _, e := range r.Ends {
		if e.Port.Node.Desc.Clean() == name && e.Port.Number == port {
			return e
		}
	}
	t.Fatalf("no link end %s[%d]", name, port)
	return nil
}

// findings returns the findings as "kind subject".
func findings(r *Result) []string {
	var list []string
	for _, f := range r.Report().Findings {
		list = append(list, string(f.Kind)+" "+f.Subject)
	}
	slices.Sort(list)
	return list
}

// Each fault of the preset is a finding, once, at its place, and no other is.
func TestRun_Findings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Switches = true
		result := r.run(t)
		want := []string{
			"bit-errors leaf1[1]", "cable-firmware spine2[1]", "dirty-fibre leaf1[1]", "fan-failed leaf2", "flapped leaf1[1]",
			"hot-module spine2[1]", "power-lost spine1",
		}
		if got := findings(result); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if len(result.Ends) != 24 || result.Partial() {
			t.Errorf("got %d link ends, partial %v", len(result.Ends), result.Partial())
		}
		e := end(t, result, "leaf1", 1)
		if got := e.LastDown().String(); got != "high error rate, blamed on the local end" {
			t.Errorf("got %q", got)
		}
		if e.Local != 1 || end(t, result, "leaf1", 4).Local != 7 {
			t.Errorf("got local ports %d, %d, want 1, 7", e.Local, end(t, result, "leaf1", 4).Local)
		}
		if got := e.Module.RxPower[0]; got != 68 { // -11.7 dBm
			t.Errorf("got %d µW, want 68", got)
		}
	})
}

// The demo has a fault of each sort, and its unplugged port has the firmware's reason.
func TestRun_Demo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "demo")
		r.o.Switches, r.o.Down = true, true
		result := r.run(t)
		want := []string{
			"bit-errors leaf1[1]", "bit-errors spine1[1]", "cable-firmware leaf3[1]", "cable-firmware leaf4[1]", "dirty-fibre leaf1[1]", "fan-failed spine2",
			"flapped leaf1[1]", "flapped leaf3[4]", "flapped spine1[1]", "hot-module spine2[3]",
		}
		if got := findings(result); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if !result.Partial() {
			t.Error("got a complete result, want a partial result: the link of node10 is not active")
		}
		if got := end(t, result, "leaf3", 7).LastDown().String(); got != "cable unplugged, blamed on the local end" {
			t.Errorf("got %q", got)
		}
	})
}

// The command module sets the firmware of both ports in a cage.
func TestRun_ModuleCommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.do(t, "module leaf1[2] 47 1 12")
		if got := FirmwareText(end(t, r.run(t), "leaf1", 1).Module.Firmware); got != "47.1.12" {
			t.Errorf("got %s, want 47.1.12", got)
		}
	})
}

// Errors have a next step of their own only without a finding that is their cause.
func TestReport_NextSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		result := newRig(t, "optics").run(t)
		hints := func() map[report.Kind]string {
			all := map[report.Kind]string{}
			for _, f := range result.Report().Findings {
				if f.Subject == "leaf1[1]" {
					all[f.Kind], _, _ = strings.Cut(f.Hint, " port ")
				}
			}
			return all
		}
		want := map[report.Kind]string{report.DirtyFibre: "clean the connectors of the fibre at", report.BitErrors: "", report.Flapped: ""}
		if got := hints(); !maps.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		e := end(t, result, "leaf1", 1)
		e.Findings = slices.DeleteFunc(e.Findings, func(f report.Finding) bool { return f.Kind == report.DirtyFibre })
		const cable = "reseat or replace the cable of"
		if got, want := hints(), (map[report.Kind]string{report.BitErrors: cable, report.Flapped: cable}); !maps.Equal(got, want) {
			t.Errorf("without the cause: got %q, want %q", got, want)
		}
	})
}

// A selected node's light is compared with the other end's, which is not in the result.
func TestRun_Selected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Selected = func(n *fabric.Node) bool { return n.Desc.Clean() == "leaf1" }
		result := r.run(t)
		if got := findings(result); !slices.Contains(got, "dirty-fibre leaf1[1]") || len(result.Devices) != 1 || len(result.Ends) != 6 {
			t.Errorf("got %q, %d devices, %d link ends", got, len(result.Devices), len(result.Ends))
		}
	})
}

// A lane without light at its transmitter is no dirty fibre.
func TestRun_DarkTransmitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "fat-tree:levels=2,radix=4,pods=2,speed=NDR,vendor=on")
		r.do(t, "optics leaf001[3] dark")
		r.o.Alarms = true
		want := []string{"module-fault leaf001[3]", "weak-light spine001[1]", "weak-transmitter leaf001[3]"}
		result := r.run(t)
		if got := findings(result); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := strings.Join(end(t, result, "leaf001", 3).AlarmTexts(), ", "); got != "transmitter fault on lane 0" {
			t.Errorf("got alarms %q", got)
		}
	})
}

// No request changes a device: all are Gets.
func TestRun_GetsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Down, r.o.Switches, r.o.Alarms, r.o.FEC = true, true, true, true
		registers := 0
		r.Lose = func(m *umad.Message) bool {
			if m.MAD.Method() != mad.MethodGet {
				t.Errorf("got %v %s", m.MAD.Method(), m.MAD.Class().AttrName(m.MAD.Attr()))
			}
			if m.MAD.Class() == mad.ClassMlnx && m.MAD.Attr() == mad.AttrMlnxRegister {
				registers++
			}
			return false
		}
		result := r.run(t)
		if registers < 500 || result.Partial() {
			t.Errorf("got %d requests for registers, partial %v", registers, result.Partial())
		}
	})
}

// What firmware rejects is unavailable and not zero, and the result is complete.
func TestRun_Rejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Switches = true
		r.do(t, "registers leaf1 old")
		r.do(t, "registers leaf2 0x5008")
		r.do(t, "registers spine1 0x900d")
		r.do(t, "vendor host1 off")
		result := r.run(t)
		if result.Partial() {
			t.Error("got a partial result")
		}
		e := end(t, result, "leaf1", 1)
		if e.Module != nil || e.Bits != nil || !strings.Contains(e.Device.Missing.Error(), "bit 20") {
			t.Errorf("old firmware: got module %v, missing %v", e.Module, e.Device.Missing)
		}
		e = end(t, result, "leaf2", 1)
		if e.Bits != nil || e.Counters != nil || e.Module == nil || len(e.Gaps) != 2 || !errors.Is(e.Gaps[0].Err, register.StatusNoRegister) {
			t.Errorf("without PPCNT: got %v, gaps %v", e.Bits, e.Gaps)
		}
		e = end(t, result, "host1", 1)
		if !strings.Contains(e.Device.Missing.Error(), "no reply to GeneralInfo") {
			t.Errorf("without agent: got %v", e.Device.Missing)
		}
		e = end(t, result, "spine1", 1)
		if e.Device.Supplies != nil || len(e.Device.Fans) != 7 {
			t.Errorf("got supplies %v, %d fans", e.Device.Supplies, len(e.Device.Fans))
		}
	})
}

// A register without a valid reply makes the result partial, and is unknown.
func TestRun_BadReplies(t *testing.T) {
	isModule := func(m *umad.Message) bool {
		return m.MAD.Class() == mad.ClassMlnx && m.MAD.Attr() == mad.AttrMlnxRegister && m.MAD.Modifier() == uint32(register.IDPDDR) && m.MAD.Data()[19] == 3
	}
	for name, test := range map[string]struct {
		lose  func(*umad.Message) bool
		alter func(*umad.Message)
		want  string
	}{
		"no reply":   {isModule, nil, "no reply in time"},
		"busy":       {nil, func(m *umad.Message) { m.MAD.SetStatus(mad.StatusBusy) }, "busy"},
		"other port": {nil, func(m *umad.Message) { m.MAD.Data()[13]++ }, "got index"},
		"other page": {nil, func(m *umad.Message) { m.MAD.Data()[8]++ }, "got block 256, want 0"},
		"unset": {nil, func(m *umad.Message) {
			for i := range m.MAD.Data()[20:] {
				m.MAD.Data()[20+i] = 0xff
			}
		}, "all bits of the reply are set"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, "optics")
				r.Lose = test.lose
				r.Alter = func(m *umad.Message) {
					if test.alter != nil && isModule(m) {
						test.alter(m)
					}
				}
				result := r.run(t)
				e := end(t, result, "leaf1", 2)
				if e.Module != nil || len(e.Gaps) != 1 || !strings.Contains(e.Gaps[0].Err.Error(), test.want) || !result.Partial() {
					t.Errorf("got module %v, gaps %v, partial %v, want %s", e.Module, e.Gaps, result.Partial(), test.want)
				}
				if doc := result.Report(); len(doc.Failures) != len(result.Ends) || doc.Failures[0].Attribute != "PDDR page 3" {
					t.Errorf("got %d failures", len(doc.Failures))
				}
			})
		})
	}
}

// Values outside of physics are a finding.
func TestRun_Implausible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "single-switch:hosts=2,radix=4,speed=NDR,vendor=on")
		r.Alter = func(m *umad.Message) {
			if d := m.MAD.Data(); m.MAD.Attr() == mad.AttrMlnxRegister && m.MAD.Modifier() == uint32(register.IDPDDR) && d[19] == 3 {
				d[24] = 0x20                     // optical module
				d[12+0x54], d[12+0x55] = 0x7f, 0 // 127 °C
				d[12+0x58], d[12+0x59] = 0xf0, 0 // 61 mW on lane 0
				d[12+0x90], d[12+0x91] = 0x0f, 0 // limits in microwatts
				d[12+0x94], d[12+0x95] = 0x0f, 0 //
				d[12+0x56], d[12+0x57] = 0xff, 0 // 6.5 V
			} else if isRegister(m, register.IDPPCNT) && d[registerAt+3] == 0x16 {
				d[registerAt+0x6a], d[registerAt+0x6b] = 0, 9 // raw BER 9e-00
			}
		}
		n := 0
		for _, f := range r.run(t).Report().Findings {
			if f.Kind == report.Invalid {
				n++
			}
		}
		if n != 3*3+4 {
			t.Errorf("got %d findings, want temperature, voltage and power of 3 modules and bit errors at 4 link ends", n)
		}
	})
}

// Ports without a link have the firmware's reason.
func TestRun_Down(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Down = true
		result := r.run(t)
		e := end(t, result, "leaf2", 9)
		if e.IsUp() || e.Trouble == nil || e.Trouble.Opcode != 1024 || e.Module == nil || e.Module.HasModule() || e.Bits != nil {
			t.Errorf("got %+v", e)
		}
		if got := end(t, result, "leaf2", 7); got.LastDown().String() != "cable unplugged, blamed on the local end" {
			t.Errorf("got %q", got.LastDown().String())
		}
	})
}

// Changes between two readings, by the document of the first.
func TestDiff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		file := filepath.Join(t.TempDir(), "before.json")
		text, err := json.Marshal(r.run(t).Report())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r.do(t, "optics leaf1[1] ok")
		r.do(t, "optics leaf2[2] dirty")
		r.do(t, "unlink host5[1]")
		before, err := ReadReport(file)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := Diff(before, r.run(t).Report())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range changes {
			got = append(got, c.Name+" "+c.Quantity+": "+c.Before+" → "+c.Now)
		}
		for _, want := range []string{
			"leaf1 rx power of lane 0: -11.7 dBm → 0.4 dBm (+12.0 dB)", "leaf1 raw BER: 6e-05 → 2e-09", "leaf2 effective BER: 0 → 3e-09", "host5 reading: read → not read",
		} {
			if !slices.Contains(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		if slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "spine1 ") }) {
			t.Errorf("got changes of a port that did not change: %q", got)
		}
	})
}

// A reading of another fabric has no changes, but is an error; a new link end is a change.
func TestDiff_OtherFabric(t *testing.T) {
	at := func(guids ...ib.GUID) *Report {
		r := &Report{}
		for _, guid := range guids {
			r.Ends = append(r.Ends, ReportEnd{NodeGUID: guid, Port: 1})
		}
		return r
	}
	if _, err := Diff(at(1, 2), at(3)); !errors.Is(err, ErrOtherFabric) {
		t.Errorf("got error %v, want %v", err, ErrOtherFabric)
	}
	changes, err := Diff(at(1), at(1, 3))
	if want := []Change{{NodeGUID: 3, Port: 1, Quantity: "reading", Before: "not read", Now: "read"}}; err != nil || !slices.Equal(changes, want) {
		t.Errorf("got %v and error %v, want %v", changes, err, want)
	}
}

func TestReadReport_Errors(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"no JSON":      {"\nnonsense", "f.json:2: invalid JSON: invalid character"},
		"old schema":   {`{"schema": "ibkit/phy/1", "ends": 3}`, `f.json: got schema "ibkit/phy/1", want ibkit/phy/2`},
		"wrong type":   {`{"schema": "ibkit/phy/2", "ends": 3}`, "f.json:1: invalid JSON: ends: a number is not possible here"},
		"other schema": {`{"schema": "ibkit/cc/2"}`, `got schema "ibkit/cc/2", want ibkit/phy/2`},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f.json")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadReport(file); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want %s", err, test.want)
			}
		})
	}
}

func TestFirmwareText(t *testing.T) {
	if got := FirmwareText(46<<24 | 110<<16 | 7); got != "46.110.7" || FirmwareText(0) != "" {
		t.Errorf("got %q, %q", got, FirmwareText(0))
	}
	if got := round(math.Pi); got != 3.14 {
		t.Errorf("got %g", got)
	}
}

// A fabric without registers costs the timeouts of a few devices per type, and states so for
// all of them.
func TestRun_FewProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "fat-tree:radix=8,pods=4")
		asked := map[umad.Addr]bool{}
		r.Lose = func(m *umad.Message) bool {
			if m.MAD.Class() == mad.ClassMlnx {
				asked[m.Addr] = true
			}
			return false
		}
		result := r.run(t)
		if len(asked) != 2*ProbesPerType || result.Readable() != 0 || result.Partial() {
			t.Errorf("got requests to %d devices, %d readable, partial %v, want 6, 0, false", len(asked), result.Readable(), result.Partial())
		}
		for _, d := range result.Devices {
			if d.Missing == nil {
				t.Errorf("%v: got no reason", d.Port)
			}
		}
		last := result.Devices[len(result.Devices)-1].Missing
		if want := "no register access by Gets: no reply to GeneralInfo from other devices of the type"; last.Error() != want {
			t.Errorf("got %q, want %q", last, want)
		}
	})
}

// All devices are asked on request: silent ones first do not hide the others of a type.
func TestRun_AskAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		for _, host := range []string{"host1", "host2", "host3", "host4", "host5"} {
			r.do(t, "vendor "+host+" off")
		}
		if n := r.run(t).Readable(); n != 4 {
			t.Errorf("got %d devices, want the switches", n)
		}
		r.o.AskAll = true
		if n := r.run(t).Readable(); n != 7 {
			t.Errorf("got %d devices, want 7 of 12", n)
		}
	})
}

// A device without a reply does not hide the others of its type.
func TestRun_SilentDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.do(t, "vendor host1 off")
		r.do(t, "vendor host2 off")
		if n := r.run(t).Readable(); n != 10 {
			t.Errorf("got %d devices, want 10 of 12", n)
		}
	})
}

// The time limit ends the requests, and the result has the replies until then.
func TestRun_Limit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Source.Client.Timeout, r.o.Limit = time.Hour, time.Minute
		r.do(t, "vendor host1 off") // the reply that is missing
		result := r.run(t)
		if !result.Unfinished || !result.Partial() || result.Readable() != 11 {
			t.Errorf("got unfinished %v, partial %v, %d devices, want 11", result.Unfinished, result.Partial(), result.Readable())
		}
		e := end(t, result, "host1", 1)
		if !errors.Is(e.Device.Missing, ErrLimit) {
			t.Errorf("got %v, want %v", e.Device.Missing, ErrLimit)
		}
	})
}

// countRegisters counts the requests for registers by number.
func (r *rig) countRegisters() map[register.ID]int {
	asked := map[register.ID]int{}
	r.Lose = func(m *umad.Message) bool {
		if m.MAD.Class() == mad.ClassMlnx && m.MAD.Attr() == mad.AttrMlnxRegister {
			asked[register.ID(m.MAD.Modifier())]++
		}
		return false
	}
	return asked
}

// Registers that a device's list lacks are not asked. Without a list, the first rejection
// ends the requests for a register on a device.
func TestRun_Unsupported(t *testing.T) {
	for _, test := range []struct {
		name   string
		events []string
		want   int
	}{
		{"listed", []string{"registers all 0x5008"}, 0},
		{"without a list", []string{"registers all 0x5008", "registers all 0x507f"}, 3 * 12},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, "optics")
				for _, event := range test.events {
					r.do(t, event)
				}
				asked := r.countRegisters()
				result := r.run(t)
				if asked[register.IDPPCNT] > test.want || result.Partial() {
					t.Errorf("got %d requests, partial %v, want at most %d for 12 devices with 24 link ends", asked[register.IDPPCNT], result.Partial(), test.want)
				}
				if e := end(t, result, "leaf1", 3); e.Bits != nil || e.Module == nil || len(e.Gaps) != 2 {
					t.Errorf("got bit errors %v, module %v, gaps %v", e.Bits, e.Module, e.Gaps)
				}
			})
		})
	}
}

// A device that ignores registers costs its first requests, and the others are read.
func TestRun_SilentRegisters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		leaf := r.Node("leaf1").Ports[0].Info.LID
		sent := 0
		r.Lose = func(m *umad.Message) bool {
			lost := m.MAD.Class() == mad.ClassMlnx && m.MAD.Attr() == mad.AttrMlnxRegister && m.Addr.LID == leaf
			if lost {
				sent++
			}
			return lost
		}
		result := r.run(t)
		if attempts := 2; sent != 2*attempts || result.Readable() != 11 || !result.Partial() {
			t.Errorf("got %d requests, %d devices, partial %v, want 4, 11, true", sent, result.Readable(), result.Partial())
		}
		if e := end(t, result, "leaf1", 1); !errors.Is(e.Device.Missing, umad.ErrTimeout) || e.Module != nil {
			t.Errorf("got missing %v, module %v", e.Device.Missing, e.Module)
		}
	})
}

// Sets leave the port only with the option, and only to devices that need them.
func TestRun_Carrier(t *testing.T) {
	for _, test := range []struct {
		carrier   Carrier
		set, smp  int // devices with Sets in the vendor class and in subnet management
		readable  int
		lanes     string // link end of leaf1 with lanes
		hasModule bool
	}{
		{"", 0, 0, 10, "", false}, {CarrierGet, 0, 0, 10, "", false}, {CarrierSet, 1, 0, 11, "leaf1", true}, {CarrierSMP, 1, 1, 12, "leaf1", true},
	} {
		t.Run(string(test.carrier), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, "optics")
				r.o.Carrier, r.o.Switches = test.carrier, true
				r.do(t, "registers leaf1 old")
				r.do(t, "registers leaf2 smp")
				sets := map[mad.Class]map[umad.Addr]bool{mad.ClassMlnx: {}, mad.ClassSMPLIDRouted: {}}
				r.Lose = func(m *umad.Message) bool {
					if m.MAD.Method() == mad.MethodSet {
						sets[m.MAD.Class()][m.Addr] = true
					}
					return false
				}
				result := r.run(t)
				if a, b := len(sets[mad.ClassMlnx]), len(sets[mad.ClassSMPLIDRouted]); a != test.set || b != test.smp || result.Readable() != test.readable {
					t.Errorf("got Sets to %d and %d devices, %d readable, want %d, %d, %d", a, b, result.Readable(), test.set, test.smp, test.readable)
				}
				old := end(t, result, "leaf1", 1)
				if (old.Lanes != nil) != test.hasModule || (old.Module != nil) != test.hasModule {
					t.Errorf("vendor class: got lanes %v, module %v", old.Lanes, old.Module)
				}
				if test.hasModule && (old.Module.RxPower[0] != 68 || old.Bits != nil || len(old.Device.Fans) != 7) {
					t.Errorf("vendor class: got %d µW, bit errors %v, %d fans", old.Module.RxPower[0], old.Bits, len(old.Device.Fans))
				}
				small := end(t, result, "leaf2", 1)
				if has := len(small.Device.Fans) > 0; has != (test.smp > 0) {
					t.Errorf("subnet management: got %d fans", len(small.Device.Fans))
				}
			})
		})
	}
}

// A device without registers has its modules in CableInfo.
func TestRun_CableInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Cables = true
		r.do(t, "registers leaf1 smp")
		result := r.run(t)
		e := end(t, result, "leaf1", 1)
		if e.Device.Missing == nil || e.Module == nil || e.Module.RxPower[0] != 68 {
			t.Fatalf("got missing %v, module %+v", e.Device.Missing, e.Module)
		}
		if got := findings(result); !slices.Contains(got, "dirty-fibre leaf1[1]") {
			t.Errorf("got %q", got)
		}
	})
}

// Eyes, the firmware's monitor and an adapter's link.
func TestRun_Quality(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Switches, r.o.Alarms, r.o.Eyes = true, true, true
		r.do(t, "pcie host2 narrow")
		r.do(t, "fan leaf1 3 4900") // above 500 rpm, below the limit of 5000
		result := r.run(t)
		for _, want := range []string{"pcie-slow host2[1]", "pcie-errors host2[1]", "fan-failed leaf1"} {
			if got := findings(result); !slices.Contains(got, want) {
				t.Errorf("got %q, want %s", got, want)
			}
		}
		doc := result.Report()
		for _, e := range doc.Ends {
			small := e.Name == "leaf1" && e.Port == 1
			if len(e.Eyes) != 4 || (e.Eyes[0].Upper == 31) != small || (*e.Monitor == "alarm") != small {
				t.Errorf("%s[%d]: got eyes %v, monitor %s", e.Name, e.Port, e.Eyes, *e.Monitor)
			}
		}
		for _, d := range doc.Devices {
			switch hot := slices.ContainsFunc(d.Modules, func(h ReportHeat) bool { return h.Celsius == 78.5 }); {
			case d.Name == "spine2" && !hot:
				t.Errorf("spine2: got %v, want a module of 78.5 °C", d.Modules)
			case d.Name == "host2" && (d.PCIe.Width != 8 || d.PCIe.HighestWidth != 16 || d.PCIe.Generation != 5 || *d.PCIe.Errors != 20):
				t.Errorf("host2: got %+v", d.PCIe)
			}
		}
	})
}

// isRegister reports whether a message has a register, or a page of PDDR.
func isRegister(m *umad.Message, id register.ID) bool {
	return m.MAD.Class() == mad.ClassMlnx && m.MAD.Attr() == mad.AttrMlnxRegister && m.MAD.Modifier() == uint32(id)
}

// registerAt is the offset of a block's register in a packet's data.
const registerAt = 12

// Replies without values, and errors of a module's memory, are unavailable with a reason; the
// parts that were read are there, and no light is unknown and not dark.
func TestRun_Unavailable(t *testing.T) {
	zeroModule := func(m *umad.Message) {
		if isRegister(m, register.IDPDDR) && m.MAD.Data()[registerAt+7] == 3 {
			clear(m.MAD.Data()[registerAt+8:])
		}
	}
	for _, test := range []struct {
		name   string
		events []string
		alter  func(*umad.Message)
		reason string
		module bool // is known
		light  bool
	}{
		{"zero module", []string{"registers leaf1 0x9014"}, zeroModule, "PDDR page 3: the reply has no values", false, false},
		{"zero module with memory", nil, zeroModule, "PDDR page 3: the reply has no values", true, true},
		{"memory in place of PDDR", []string{"registers leaf1 0x5031"}, nil, "PDDR page 3: register status 0x04", true, true},
		{"page error", []string{"registers leaf1 0x5031"}, func(m *umad.Message) {
			if d := m.MAD.Data(); isRegister(m, register.IDMCIA) && d[registerAt+5] != 0 {
				d[registerAt+3] = 9
			}
		}, "MCIA: read EEPROM: I2C error", true, false},
		{"busy memory", []string{"registers leaf1 0x5031"}, func(m *umad.Message) {
			if isRegister(m, register.IDMCIA) {
				m.MAD.SetStatus(mad.StatusBusy)
			}
		}, "MCIA: register status 0x01: busy", false, false},
		{"short memory", []string{"registers leaf1 0x5031"}, func(m *umad.Message) {
			if d := m.MAD.Data(); isRegister(m, register.IDMCIA) && d[registerAt+7] == 128 {
				d[registerAt+11] = 20
			}
		}, "MCIA: got 20 bytes at address 128 of page 0, want 48", false, false},
		{"empty memory", []string{"registers leaf1 0x5031"}, func(m *umad.Message) {
			if isRegister(m, register.IDMCIA) {
				clear(m.MAD.Data()[registerAt+16:])
			}
		}, "MCIA: decode EEPROM: the module's memory has no values", false, false},
		{"stale counters", nil, func(m *umad.Message) {
			if isRegister(m, register.IDPPCNT) {
				clear(m.MAD.Data()[registerAt+8:])
			}
		}, "PPCNT group 0x16: the reply has no values", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, "optics")
				for _, event := range test.events {
					r.do(t, event)
				}
				r.Alter = test.alter
				e := end(t, r.run(t), "leaf1", 2)
				known := slices.ContainsFunc(e.Gaps, func(g Gap) bool { return strings.HasPrefix(g.Register+": "+g.Err.Error(), test.reason) })
				if !known {
					t.Errorf("got gaps %v, want %s", e.Gaps, test.reason)
				}
				if has := e.Module != nil; has != test.module || has && e.Module.IsOptical() != test.light {
					t.Errorf("got module %+v, want module %v, light %v", e.Module, test.module, test.light)
				}
				if strings.HasPrefix(test.reason, "PPCNT") && e.Bits != nil {
					t.Errorf("got %+v, want no bit errors", e.Bits)
				}
			})
		})
	}
}

// A device with a vendor key ignores requests without it.
func TestRun_VendorKey(t *testing.T) {
	const key = 0x1234
	for _, test := range []struct {
		key      mad.Key
		readable int
	}{{0, 11}, {key, 12}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, "optics")
			r.o.Key = test.key
			leaf := r.Node("leaf1").Ports[0].Info.LID
			r.Lose = func(m *umad.Message) bool {
				return m.MAD.Class() == mad.ClassMlnx && m.Addr.LID == leaf && m.MAD.Key() != key
			}
			result := r.run(t)
			e := end(t, result, "leaf1", 1)
			if result.Readable() != test.readable || (e.Module != nil) != (test.key == key) || (e.Device.Missing == nil) != (test.key == key) {
				t.Errorf("key %v: got %d devices, module %v, missing %v", test.key, result.Readable(), e.Module, e.Device.Missing)
			}
		})
	}
}

// The time limit ends the registers that are under way, each with the reason.
func TestRun_LimitWithinDevices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Source.Client.Timeout, r.o.Limit = time.Hour, time.Minute
		r.Lose = func(m *umad.Message) bool { return isRegister(m, register.IDPMLP) }
		result := r.run(t)
		if !result.Unfinished || !result.Partial() {
			t.Errorf("got unfinished %v, partial %v", result.Unfinished, result.Partial())
		}
		for _, e := range result.Ends {
			if e.Lanes != nil || !slices.ContainsFunc(e.Gaps, func(g Gap) bool { return g.Register == "PMLP" && errors.Is(g.Err, ErrLimit) }) {
				t.Errorf("%v: got lanes %v, gaps %v", e.Port, e.Lanes, e.Gaps)
			}
		}
	})
}

// A file has the findings of the reading that it stores, except about light, counters,
// fans and power supplies: each module once, although two ports share it.
func TestFromDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Switches = true
		result := r.run(t)
		d := &ibdiagnet.Database{Fabric: result.Fabric}
		result.Store(d)
		var text bytes.Buffer
		if err := d.Write(&text); err != nil {
			t.Fatal(err)
		}
		read, err := ibdiagnet.ReadDatabase(&text, "db_csv")
		if err != nil {
			t.Fatal(err)
		}
		stored := FromDatabase(read, Options{})
		if got, want := findings(stored), []string{"bit-errors leaf1[1]", "cable-firmware spine2[1]", "hot-module spine2[1]"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		doc := stored.ReportEnd(end(t, stored, "leaf1", 1))
		if m := doc.Module; m.SerialNumber != "MT26070297241" || *m.Celsius != 47 || len(m.Lanes) != 0 || m.RxLow != nil || m.Identifier != "" {
			t.Errorf("got %+v, want no light", m)
		}
		if stored.Readable() != 12 || stored.Partial() || stored.Devices[0].Missing != nil {
			t.Errorf("got %d devices, partial %v", stored.Readable(), stored.Partial())
		}
		delete(read.PHY, end(t, stored, "host1", 1).Port)
		if e := end(t, FromDatabase(read, Options{}), "host1", 1); !errors.Is(e.Device.Missing, errNotStored) {
			t.Errorf("got %v, want %v", e.Device.Missing, errNotStored)
		}
	})
}

// Each reason why a link is down has a next step.
func TestNextSteps(t *testing.T) {
	for code := range register.TroubleCode(1100) {
		reason := code.String()
		if _, ok := nextSteps[reason]; !ok && code != register.NoTrouble && !strings.HasPrefix(reason, "undefined") {
			t.Errorf("code %d, %s: got no step", code, reason)
		}
	}
}

// The next step for a port that was disabled has the command that enables it.
func TestNextStep_Disabled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.o.Down = true
		n := r.Fabric.Node("leaf2")
		n.Ports[9].Info.PhysState = ib.PhysDisabled
		result := r.run(t)
		got := result.ReportEnd(end(t, result, "leaf2", 9)).Trouble
		if want := "enable the port: ibkit port " + n.Info.NodeGUID.String() + " 9 enable"; got == nil || got.Reason != "closed by command" || got.Next != want {
			t.Errorf("got %+v, want %s", got, want)
		}
	})
}

// Two ports share a module. If the device does not report the lanes of each, the module's light
// is a finding once.
func TestFind_UnknownLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "optics")
		r.do(t, "registers leaf1 0x5002")
		result := r.run(t)
		got := slices.DeleteFunc(findings(result), func(text string) bool { return !strings.Contains(text, "fibre") })
		if !slices.Equal(got, []string{"dirty-fibre leaf1[1]"}) {
			t.Errorf("got %q, want a dirty fibre at port 1", got)
		}
	})
}
