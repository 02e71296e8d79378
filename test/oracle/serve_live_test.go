//go:build oracle

package oracle

import (
	"regexp"
	"strings"
	"testing"
)

var complaint = regexp.MustCompile(`(?m)^.* ERR .*$`)

// TestServedSubnetManager configures fabrics with opensm, and checks its log for
// complaints about the agents.
func TestServedSubnetManager(t *testing.T) {
	for _, fabric := range served {
		t.Run(fabric, func(t *testing.T) {
			s := serveLive(t, "--sm=off", fabric)
			links := func() string { return s.MustRunC(t, "", "iblinkinfo", "--line").Stdout }
			if before := links(); strings.Contains(before, "Active/") || !strings.Contains(before, "Initialize/") {
				t.Fatalf("configured before opensm ran:\n%s", before)
			}
			log, err := s.SubnetLog(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range complaint.FindAllString(log, -1) {
				// ERR 3111: ports without FDR10 reject Mellanox' attribute for it.
				if !strings.Contains(line, "ERR 3111: Received MAD with error status = 0xC") {
					t.Error(line)
				}
			}
			if after := links(); strings.Contains(after, "Initialize/") || !strings.Contains(after, "Active/") {
				t.Errorf("not configured after opensm ran:\n%s", after)
			}
		})
	}
}

// TestServedQueries reads single attributes with other tools. In the demo, spine1 has
// LID 1, spine2 LID 2, leaf1 LID 3, and node01 and node02 behind it LIDs 4 and 5.
func TestServedQueries(t *testing.T) {
	s := serveLive(t, "demo")
	for _, test := range []struct {
		command string
		want    []string // expressions, each for a single line
	}{
		{"smpquery nodeinfo -D 0", []string{`NodeType:\.+Channel Adapter`, `Guid:\.+0x0002c90000100300`, `PortGuid:\.+0x0002c90000100301`}},
		{"smpquery nodeinfo 3", []string{`NodeType:\.+Switch`, `NumPorts:\.+16`, `Guid:\.+0x0002c90000800200`}},
		{"smpquery portinfo -D 0 1", []string{`Lid:\.+4`, `SMLid:\.+4`, `LinkState:\.+Active`, `LinkSpeedExtActive:\.+106\.25 Gbps`}},
		{"smpquery portinfo 3 3", []string{`LinkState:\.+Active`, `PhysLinkState:\.+LinkUp`}},
		{"smpquery switchinfo -D 0,1", []string{`LinearFdbCap:\.+49152`, `LinearFdbTop:\.+22`}},
		{"smpquery nodedesc 1", []string{`Node Description:\.+spine1`}},
		{"smpquery pkeys -D 0", []string{`\s*0: 0xffff 0x0000.*`, `128 pkeys capacity for this port`}},
		{"sminfo", []string{`sminfo: sm lid 4 sm guid 0x2c90000100301,.*SMINFO_MASTER`}},
		{"ibroute 3", []string{`0x0003 000 : \(Switch portguid 0x0002c90000800200: 'leaf1'\)`, `0x0005 004 : \(Channel Adapter portguid 0x0002c90000100401: 'node02'\)`}},
		{"ibtracert 1 5", []string{
			`From switch \{0x0002c90000800000\} portnum 0 lid 1-1 "spine1"`,
			`\[1\] -> switch port \{0x0002c90000800200\}\[1\] lid 3-3 "leaf1"`,
			`\[4\] -> ca port \{0x0002c90000100401\}\[1\] lid 5-5 "node02"`,
		}},
	} {
		t.Run(test.command, func(t *testing.T) {
			words := strings.Fields(test.command)
			r := s.MustRunC(t, "", words[0], words[1:]...)
			if r.Code != 0 {
				t.Fatalf("exit code %d: %s%s", r.Code, r.Stdout, r.Stderr)
			}
			for _, line := range test.want {
				if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(r.Stdout) {
					t.Errorf("no line %s in\n%s", line, r.Stdout)
				}
			}
		})
	}
}
