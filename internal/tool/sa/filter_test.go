package sa

import (
	"encoding/json"
	"errors"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

func TestParseKind(t *testing.T) {
	for _, text := range []string{"NodeRecord", "noderecord", "node", "NR", "nr", "Node_Record"} {
		if k, err := ParseKind(text); err != nil || k.ID != mad.AttrNodeRecord {
			t.Errorf("%s: got %v, error %v", text, k, err)
		}
	}
	for _, k := range Kinds() {
		for _, name := range append(k.Aliases, k.Name) {
			if got, err := ParseKind(name); err != nil || got.ID != k.ID {
				t.Errorf("%s: got %v, error %v, want %v", name, got, err, k)
			}
		}
	}
	if k, err := ParseKind("nosuch"); err == nil {
		t.Errorf("got %v, want an error", k)
	}
}

// filter builds a filter, and returns it with the last condition's error.
func filter(t *testing.T, kind string, conditions ...string) (*Filter, error) {
	t.Helper()
	k, err := ParseKind(kind)
	if err != nil {
		t.Fatal(err)
	}
	f := NewFilter(k)
	for _, c := range conditions {
		if err = f.Add(c); err != nil {
			break
		}
	}
	return f, err
}

func TestFilter(t *testing.T) {
	node := &mad.NodeRecord{LID: 7, NodeInfo: mad.NodeInfo{NodeType: mad.NodeTypeSwitch, NodeGUID: 0x2c90000100a00}, Description: mad.NewNodeDescription("leaf 1")}
	path := &mad.PathRecord{ServiceID: 5, DGID: ib.MakeGID(0xfe80000000000000, 1), SLID: 4, RateSelector: mad.SelectGreater, Rate: ib.Rate10, MTUSelector: mad.SelectExactly, MTU: ib.MTU4096}
	ca := &mad.NodeRecord{NodeInfo: mad.NodeInfo{NodeType: mad.NodeTypeCA}}
	manager := &mad.SMInfoRecord{SMInfo: mad.SMInfo{State: mad.SMMaster}}
	port := &mad.PortInfoRecord{LID: 3, PortInfo: mad.PortInfo{State: ib.PortDown, CapMask: mad.CapSM | mad.CapTrap}}
	for _, test := range []struct {
		kind       string
		conditions []string
		want       mad.Attribute
		mask       mad.ComponentMask
		modifier   uint32
	}{
		{"NR", []string{"lid=7", "node_type=switch", "Guid=0x0002c90000100a00", "name=leaf 1"}, node,
			mad.Components(node, &node.LID, &node.NodeInfo.NodeType, &node.NodeInfo.NodeGUID, &node.Description), 0},
		{"PR", []string{"ServiceID=5", "dgid=fe80::1", "slid=0x4", "rate>3", "mtu=4096"}, path,
			mad.Components(path, &path.ServiceID, &path.DGID, &path.SLID, &path.RateSelector, &path.Rate, &path.MTUSelector, &path.MTU), 0},
		{"NR", []string{"type=CA"}, ca, mad.Components(ca, &ca.NodeInfo.NodeType), 0},
		{"NR", []string{"nodetype=channel adapter"}, ca, mad.Components(ca, &ca.NodeInfo.NodeType), 0},
		{"SMIR", []string{"smstate=master"}, manager, mad.Components(manager, &manager.SMInfo.State), 0},
		{"PIR", []string{"lid=3", "state=down", "capmask=issm+IsTrapSupported"}, port,
			mad.Components(port, &port.LID, &port.PortInfo.State, &port.PortInfo.CapMask), mad.MatchCapMask},
	} {
		t.Run(test.kind+" "+strings.Join(test.conditions, " "), func(t *testing.T) {
			f, err := filter(t, test.kind, test.conditions...)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, f.Match); d != "" || f.Mask != test.mask || f.Modifier() != test.modifier {
				t.Errorf("want (-), got (+)\n%sgot mask %x and modifier %x, want %x and %x", d, f.Mask, f.Modifier(), test.mask, test.modifier)
			}
		})
	}
}

func TestFilter_Invalid(t *testing.T) {
	for _, test := range []struct{ kind, condition, want string }{
		{"NR", "lid", "not of the form FIELD=VALUE"},
		{"NR", "=7", "not of the form FIELD=VALUE"},
		{"NR", "foo=7", "no such field"},
		{"NR", "lid=70000", "position 5: 70000 does not fit in 16 bits"},
		{"NR", "lid=99999999999999999999", "does not fit in 16 bits"},
		{"NR", "lid=", "empty value"},
		{"NR", "lid>7", "cannot be compared"},
		{"NR", "node_type=nosuch", "is not a value of NodeType"},
		{"NR", "guid=xyz", "position 6"},
		{"NR", "name=" + strings.Repeat("a", 65), "want at most 64"},
		{"PR", "sgid=192.0.2.1", "is not a GID"},
		{"PR", "sgid=fe80::1%x", "is not a GID"},
		{"PR", "mtu=x", "is not a value of Mtu"},
		{"SR", "servicekey=12", "not a key of 32 hexadecimal digits"},
		{"PIR", "capmask=nosuch", "is not a value of CapMask"},
		{"PKTR", "pkeys=1", "a table cannot be compared"},
	} {
		t.Run(test.kind+" "+test.condition, func(t *testing.T) {
			if f, err := filter(t, test.kind, test.condition); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s %s: got %+v, error %v, want %s", test.kind, test.condition, f.Match, err, test.want)
			}
		})
	}
}

// Each field in each kind takes its own value 0, and no other field changes.
func TestFilter_Fields(t *testing.T) {
	for _, k := range Kinds() {
		for _, c := range mad.RecordComponents(k.New()) {
			if c.Width > 64 || isTable(c) || c.Name == "Lid" { // an alias for EndportLID
				continue
			}
			f := NewFilter(k)
			if err := f.Add(c.Name + "=1"); err != nil {
				t.Errorf("%v: %v", k, err)
			}
			got, set := uint64(0), 0
			mad.Visit(mad.WithKeys(f.Match), func(name string, _ int, v uint64) uint64 {
				if name == c.Name {
					got = v
				}
				if v != 0 && name != c.Name+"Selector" {
					set++
				}
				return v
			})
			if got != 1 || set != 1 || f.Mask&c.Mask != c.Mask {
				t.Errorf("%v %s: got value %d, %d fields and mask %x, want 1, 1 and %x", k, c.Name, got, set, f.Mask, c.Mask)
			}
		}
	}
}

// A filter accepts each value name that the table or JSON prints.
func TestFilter_Names(t *testing.T) {
	names := 0
	for _, k := range Kinds() {
		for _, c := range mad.RecordComponents(k.New()) {
			if c.Width > 8 || isTable(c) {
				continue
			}
			tested := map[string]bool{}
			for v := range uint64(1) << c.Width {
				if v > 16 && bits.OnesCount64(v) > 2 {
					continue // a larger set
				}
				f := NewFilter(k)
				f.store(c, v)
				for _, name := range namesOf(t, f.Match, c.Name) {
					if tested[name] {
						continue // the same set, with other undefined bits
					}
					tested[name] = true
					names++
					got := NewFilter(k)
					if err := got.Add(c.Name + "=" + name); err != nil {
						t.Fatal(err)
					}
					if same := namesOf(t, got.Match, c.Name); !slices.Contains(same, name) {
						t.Errorf("%v %s=%s: got a value with the names %q", k, c.Name, name, same)
					}
				}
			}
		}
	}
	if names < 300 {
		t.Errorf("got %d names, want 300 or more", names)
	}
}

// namesOf returns a field's texts in the table and in JSON that are not numbers.
func namesOf(t *testing.T, record mad.Attribute, field string) (names []string) {
	t.Helper()
	mad.Fields(record, []string{field}, func(name string, text []byte) {
		if _, err := strconv.ParseUint(string(text), 0, 64); err != nil {
			names = append(names, string(text))
		}
	})
	text, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	var value struct {
		Name  string
		Names []string
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	for _, part := range members { // fields are in the record, or in an attribute in it
		var nested map[string]json.RawMessage
		if json.Unmarshal(part, &nested) == nil {
			maps.Copy(members, nested)
		}
	}
	for name, member := range members {
		if strings.ReplaceAll(name, "_", "") != plain(field) || json.Unmarshal(member, &value) != nil {
			continue
		}
		if value.Name != "" {
			names = append(names, value.Name)
		}
		if len(value.Names) > 0 {
			names = append(names, strings.Join(value.Names, "+"))
		}
	}
	return names
}

func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"lid=7", "sgid=fe80::1", "mtu>4", "name=x", "capmask=IsSM+x", "state=Down", "servicekey=0x00", "=", "x"} {
		f.Add(seed)
	}
	kinds := Kinds()
	f.Fuzz(func(t *testing.T, condition string) {
		for _, k := range kinds {
			filter := NewFilter(k)
			if filter.Add(condition) != nil {
				continue
			}
			if err := mad.Encode(filter.Match, make([]byte, mad.SADataSize)); err != nil {
				t.Errorf("%v %q: %v", k, condition, err)
			}
		}
	})
}

// TestParseKind_Similar checks the hint for a misspelt name.
func TestParseKind_Similar(t *testing.T) {
	for name, want := range map[string]string{
		"paths": `similar names: "PathRecord"`, "nodes": `similar names: "NodeRecord"`,
		"PathRecrod": `similar names: "PathRecord"`, "leaf1": "",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseKind(name)
			var hinter interface{ Hint() string }
			if !errors.As(err, &hinter) || hinter.Hint() != want {
				t.Errorf("got %v, want hint %q", err, want)
			}
		})
	}
}
