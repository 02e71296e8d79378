//go:build oracle

package oracle

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ibkit/ibkit/internal/tool/route"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/test/ibsimtest"
	"github.com/ibkit/ibkit/umad"
	"github.com/ibkit/ibkit/umad/ibsim"
)

// multicastTables are tables for a single group in a tree of four leaves (L1 to L4, hosts
// at ports 1 to 4) and two spines (S1 at port 5 on each leaf, S2 at port 6).
var multicastTables = []struct {
	name   string
	ports  map[string]string
	unseen bool // ibdmchk does not see the defect
}{
	{name: "sound", ports: map[string]string{"L1": "1 5", "S1": "1 2 3", "L2": "1 2 5", "L3": "4 5"}},
	{name: "one leaf", ports: map[string]string{"L1": "1 2"}},
	{name: "part of the tree", ports: map[string]string{"L1": "1 5", "S1": "1 2", "L2": "1 5", "L3": "1"}},
	{name: "loop", ports: map[string]string{"L1": "1 5 6", "S1": "1 2", "S2": "1 2", "L2": "1 5 6"}},
	{name: "loop without members", ports: map[string]string{"L1": "5 6", "S1": "1 2", "S2": "1 2", "L2": "5 6"}, unseen: true},
	{name: "one direction", ports: map[string]string{"L1": "1 5", "S1": "1 2", "L2": "1"}},
	{name: "no entry", ports: map[string]string{"L1": "1 5", "S1": "1 2"}},
	{name: "two parts", ports: map[string]string{"L1": "1 5", "S1": "1 2", "L2": "1 5", "L3": "1 6", "S2": "3 4", "L4": "1 6"}},
	{name: "port without a link", ports: map[string]string{"L1": "1 5 8", "S1": "1 2", "L2": "1 5"}, unseen: true},
}

var (
	disconnected   = regexp.MustCompile(`(?m)^-E- Disconnected HCA:`)
	multicastFault = regexp.MustCompile(`(?m)^(-E- (Found a loop on MLID|Disconnected)|-W- Found a non symmetric MFT)`)
	membersOf      = regexp.MustCompile(`Multicast Group:0xC010 has:(\d+) switches and:(\d+) HCAs`)
	apart          = regexp.MustCompile(`do not reach (\d+) of (\d+) members`)
)

// TestRoutes_Multicast compares the verdicts on multicast tables with ibdmchk.
func TestRoutes_Multicast(t *testing.T) {
	dir := t.TempDir()
	net := filepath.Join(dir, "net")
	f := exportNet(t, "fat-tree:radix=8,pods=4,spines=2", net)
	s := ibsimtest.New(t, net)
	sm, err := s.StartSM("", "log_flags 0x43", "dump_files_dir "+dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := sm.Stop(); err != nil {
		t.Fatal(err)
	}
	guid := func(name string) string {
		id := map[byte]string{'L': "leaf00", 'S': "spine00"}[name[0]] + name[1:]
		n := f.Node(id)
		if n == nil {
			t.Fatalf("the fabric has no switch %s", id)
		}
		return n.Info.NodeGUID.String()
	}
	for _, test := range multicastTables {
		t.Run(test.name, func(t *testing.T) {
			var text strings.Builder
			for name, ports := range test.ports {
				fmt.Fprintf(&text, "Switch %s\nLID    : Out Port(s)\n0xC010 :", guid(name))
				for port := range strings.FieldsSeq(ports) {
					fmt.Fprintf(&text, " 0x00%s", port)
				}
				text.WriteByte('\n')
			}
			if err := os.WriteFile(filepath.Join(dir, "opensm.mcfdbs"), []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := ibsimtest.Command(t, "/usr/bin/ibdmchk", "-s", filepath.Join(dir, "opensm-subnet.lst"), "-f", filepath.Join(dir, "opensm.fdbs"), "-m", filepath.Join(dir, "opensm.mcfdbs"))
			out, _ := cmd.Output() // it ends with a segmentation fault
			want := string(out)
			_, got := checkRoutes(t, nil, "--tables", dir)
			var r struct {
				Multicast route.ReportMulticast
				Findings  []struct{ Kind, Detail string }
			}
			if err := json.Unmarshal([]byte(got), &r); err != nil {
				t.Fatal(err)
			}
			sound := !multicastFault.MatchString(want) && !test.unseen
			if r.Multicast.Groups != 1 || (r.Multicast.Sound == 1) != sound {
				t.Errorf("got %+v, want sound %v as ibdmchk\n%s", r, sound, want)
			}
			ours := "0"
			for _, finding := range r.Findings {
				if m := apart.FindStringSubmatch(finding.Detail); m != nil {
					ours = m[1]
					if members := membersOf.FindStringSubmatch(want); members == nil || members[2] != m[2] {
						t.Errorf("got %s members, want %v as ibdmchk", m[2], members)
					}
				}
			}
			if theirs := fmt.Sprint(len(disconnected.FindAllString(want, -1))); ours != theirs {
				t.Errorf("got %s members that are not reached, want %s as ibdmchk\n%s", ours, theirs, want)
			}
		})
	}
}

// TestRoutes_Members compares opensm's trees with the members that saquery prints, and
// finds a member with a removed entry.
func TestRoutes_Members(t *testing.T) {
	s := serveLive(t, "--sm=off", "fat-tree:radix=8,pods=4,spines=2")
	s.NewSM(t, "host00001")
	// Without RMPP, as here, a packet has all records only if there are few.
	for _, host := range []string{"host00002", "host00007"} {
		joinGroup(t, s, host, 1)
	}
	check := func(args ...string) (multicast route.ReportMulticast, findings string) {
		t.Helper()
		_, text := checkRoutes(t, s, append(args, "--finding", "multicast")...)
		var r struct {
			Multicast route.ReportMulticast
			Findings  []struct{ Detail string }
		}
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		for _, f := range r.Findings {
			findings += f.Detail + "\n"
		}
		return r.Multicast, findings
	}
	within(t, time.Minute, "the tables lead to all members", func() bool {
		m, findings := check("--sm-key", "1")
		return m.Groups == 1 && m.Sound == 1 && findings == ""
	})
	want := strings.Count(s.MustRunC(t, "", "saquery", "--smkey", "1", "MCMR").Stdout, "MCMember Record dump:")
	if m, _ := check("--sm-key", "1"); m.Members == nil || *m.Members != want || want != 2 {
		t.Errorf("got %+v, want %d members as saquery, 2", m, want)
	}
	if m, _ := check(); m.Members != nil || m.Sound != 1 {
		t.Errorf("without the key: got %+v, want unknown members", m)
	}

	group := groupLID(t, s, "1")
	removeMulticast(t, s, "host00007", group)
	if m, findings := check("--sm-key", "1"); m.Sound != 0 || findings != "no entry leads to 1 of 2 members, for example host00007\n" {
		t.Errorf("without an entry: got %+v and findings\n%s", m, findings)
	}
	if m, findings := check(); m.Sound != 1 {
		t.Errorf("without an entry and the key: got %+v and findings\n%s, want a sound tree", m, findings)
	}
}

// removeMulticast removes a host's port from the multicast LID entry on its switch,
// without the subnet manager's knowledge.
func removeMulticast(t *testing.T, s *ibsimtest.Sim, host, group string) {
	t.Helper()
	lid, err := strconv.ParseUint(group, 0, 16)
	if err != nil {
		t.Fatal(err)
	}
	_, socket, _ := strings.Cut(s.Env()[0], "=")
	p, err := ibsim.Open(t.Context(), ibsim.Options{SockName: socket, Node: host})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	c := umad.NewClient(p, umad.ClientOptions{Timeout: 2 * time.Second})
	call := func(method mad.Method, attr mad.AttrID, modifier uint32, payload []byte, reply mad.Attribute) {
		t.Helper()
		answer, err := c.Call(t.Context(), &umad.Request{To: umad.Target{Route: mad.RouteOf(1)}, Method: method, Attr: attr, Modifier: modifier, Data: payload, Expect: &umad.Identity{}})
		if err == nil {
			err = mad.Decode(reply, answer.Data())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var info mad.NodeInfo
	call(mad.MethodGet, mad.AttrNodeInfo, 0, nil, &info)
	var table mad.MulticastForwardingTable
	block, entry := uint32(lid-0xc000)/32, (lid-0xc000)%32
	call(mad.MethodGet, mad.AttrMulticastForwardingTable, block, nil, &table)
	table.Masks[entry] &^= 1 << info.LocalPort
	payload := make([]byte, mad.DataSize)
	if err := mad.Encode(&table, payload); err != nil {
		t.Fatal(err)
	}
	call(mad.MethodSet, mad.AttrMulticastForwardingTable, block, payload, &table)
}
