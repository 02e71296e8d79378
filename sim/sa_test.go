package sim

import (
	"testing"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// saClient returns a client at a node of a fabric.
func saClient(t testing.TB, description, node string, change func(*Fabric)) (*Fabric, *umad.Client) {
	t.Helper()
	f, err := Build(description)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(f)
	}
	p, err := f.Open(node)
	if err != nil {
		t.Fatal(err)
	}
	return f, umad.NewClient(p, umad.ClientOptions{})
}

// query returns the records that match.
func query[T any, R interface {
	*T
	mad.Attribute
}](t testing.TB, c *umad.Client, match R, fields ...any) []T {
	t.Helper()
	table, err := c.Table(t.Context(), &umad.TableRequest{Match: match, Mask: mad.Components(match, fields...)})
	if err != nil {
		t.Fatal(err)
	}
	if table.Clipped {
		t.Fatal("the table is clipped")
	}
	all, err := umad.Records[T, R](table)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestNodeTable(t *testing.T) {
	f, c := saClient(t, "demo", "", nil)
	want := 0
	for range f.endPorts() {
		want++
	}
	all := query(t, c, &mad.NodeRecord{})
	if len(all) != want || want < 10 {
		t.Fatalf("%d records, want %d", len(all), want)
	}
	leaf := f.Node("leaf1")
	q := mad.NodeRecord{LID: leaf.Ports[0].Info.LID}
	one := query(t, c, &q, &q.LID)
	if len(one) != 1 || one[0].Description.String() != "leaf1" || one[0].NodeInfo.PortGUID != leaf.Ports[0].GUID {
		t.Errorf("got %+v", one)
	}
	q = mad.NodeRecord{NodeInfo: mad.NodeInfo{NodeType: mad.NodeTypeSwitch}}
	for _, r := range query(t, c, &q, &q.NodeInfo.NodeType) {
		if r.NodeInfo.NodeType != mad.NodeTypeSwitch {
			t.Errorf("%q is no switch", r.Description)
		}
	}
	if q.LID = 0xbfff; len(query(t, c, &q, &q.LID)) != 0 {
		t.Error("a LID that nobody has")
	}
}
