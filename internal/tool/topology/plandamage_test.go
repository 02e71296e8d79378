package topology_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/report"
)

// The valid part of a damaged plan is read, and the other lines are reported. Unexpected
// cables are unknown if a cable is lost, but not if it lacks a value only.
func TestParsePlan_Damaged(t *testing.T) {
	const header = "StartDevice,StartPort,EndDevice,EndPort,Speed\n"
	f := scan(t, "demo", nil)
	var database strings.Builder
	database.WriteString("START_NODES\nNodeDesc,NodeGUID,NumPorts\na,0x1,2\nb,0x2,2\nEND_NODES\nSTART_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n")
	for _, test := range []struct {
		name, plan string
		cables     int
		lost       bool
		damage     []string
	}{
		{"one end", header + "a,1,b,1,\nc,1,,,\nd,1,e,1,\n", 2, true, []string{"plan:3: the cable has a single end"}},
		{"quote", header + "a,1,\"b,1,\nc,1,d,1,\ne,1,f,1\n", 2, true, []string{"plan:2: a field in quotation marks does not end with one"}},
		{"quotes", header + "a,1,\"b,1,\nc,1,\"d,1,\ne,1,f,1\ng,1,h\"i,1\nj,1,k,1\n", 2, true, []string{
			"plan:2: a field in quotation marks does not end with one", "plan:3: a field in quotation marks does not end with one",
			"plan:5: a quotation mark in a field that does not begin with one",
		}},
		{"lines in a field", header + "a,1,\"b\nc\",1,\nd,1,e,1,fast\n", 2, false, []string{`plan:4: parse speed "fast": not a rate such as HDR, 4X HDR or 400G`}},
		{"GUID", "start_guid,end_guid\n0x1,0x2\nx,0x2\n", 1, true, []string{`plan:3: parse GUID "x": position 1: 'x' is not a hexadecimal digit`}},
		{"GUID beside a name", "start_device,start_guid,end_device\na,x,b\n", 1, false, []string{`plan:2: parse GUID "x": position 1: 'x' is not a hexadecimal digit`}},
		{"speed", header + "a,1,b,1,fast\n", 1, false, []string{`plan:2: parse speed "fast": not a rate such as HDR, 4X HDR or 400G`}},
		{"port twice", header + "a,1,b,1,\na,1,b,2,\n", 1, true, []string{"plan:3: a[1] has two cables: the first, in line 2, counts"}},
		{"topo system", "X s\n  P1 -> Y h P1\nz\n  P1 -> Y g P1\nX r\n  P1 -> Y f P1\n", 2, true, []string{
			`plan:3: got "z", want a type and the name of a system`, "plan:4: got a cable before a system",
		}},
		{"topo cable", "X s\n  P1 -> Y h P1\n  P2 -> Y\n", 1, true, []string{`plan:3: got "P2 -> Y", want PORT -4x-50G-> TYPE SYSTEM PORT`}},
		{"db_csv", database.String() + "0x1,1,0x2,1\n0x1,2,0x3,1\nEND_LINKS\n", 1, true, []string{"plan:9: node 0x0000000000000003 is not in section NODES"}},
		{"linkinfo", linkinfoPlan[:strings.Index(linkinfoPlan, `{"node_guid":"0x3"`)+20], 1, true, []string{"plan:4: invalid JSON: unexpected EOF"}},
		{"linkinfo after a line", "ibwarn: x\n" + linkinfoPlan, 2, true, []string{`plan:1: got "ibwarn: x", want only a JSON document`}},
		{"linkinfo node", strings.Replace(linkinfoPlan, `"port":2`, `"port":"x"`, 1), 1, true, []string{
			"plan:4: invalid JSON: ports.port: a string is not possible here",
		}},
		{"linkinfo width", strings.Replace(linkinfoPlan, `4X`, `9X`, 1), 2, false, []string{`plan:3: parse link width: unknown value "9X"`}},
		{"linkinfo partial", strings.Replace(linkinfoPlan, `false`, `true`, 1), 2, true, []string{"plan: the stored scan is partial: cables may be missing"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := parse(t, test.plan)
			if len(p.Cables) != test.cables || p.Incomplete != test.lost {
				t.Errorf("got cables %v, incomplete %v, want %d cables and %v", p.Cables, p.Incomplete, test.cables, test.lost)
			}
			var damage []string
			for _, err := range p.Damage {
				damage = append(damage, err.Error())
			}
			if d := cmp.Diff(test.damage, damage); d != "" {
				t.Errorf("damage: want (-), got (+)\n%s", d)
			}
			unexpected := func(f report.Finding) bool { return f.Kind == report.UnexpectedCable }
			if got := slices.ContainsFunc(p.Compare(f, nil), unexpected); got == test.lost {
				t.Errorf("got unexpected cables %v, want %v", got, !test.lost)
			}
		})
	}
}

// linkinfoPlan has the parts of linkinfo JSON that a plan needs.
const linkinfoPlan = `{
"schema":"ibkit/linkinfo/4","partial":false,"nodes":[
{"node_guid":"0x1","name":"a","ports":[{"port":1,"width":"4X","peer":{"node_guid":"0x2","port":1,"name":"b"}}]},
{"node_guid":"0x3","name":"c","ports":[{"port":2,"peer":{"node_guid":"0x2","port":2,"name":"b"}}]}]}
`

// Reading ends after 10,000 invalid lines.
func TestParsePlan_Foreign(t *testing.T) {
	p := parse(t, "StartDevice,EndDevice\na,b\n"+strings.Repeat("c,\n", 20_000)+"d,e\n")
	const want = "plan:10002: the lines from here on were not read: 10000 lines are invalid"
	if got := len(p.Damage); got != 10_000 || p.Damage[got-1].Error() != want || len(p.Cables) != 1 {
		t.Errorf("got %d errors, %d cables, the last error %v, want 10000 errors, 1 cable and %s", got, len(p.Cables), p.Damage[got-1], want)
	}
}
