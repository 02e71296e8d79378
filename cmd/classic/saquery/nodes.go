package saquery

import (
	"fmt"

	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
)

// printNodes prints the nodes that the options select, in the selected form.
func (q *query) printNodes() error {
	table, err := q.get(&mad.NodeRecord{}, 0, 0)
	if err != nil {
		return err
	}
	if q.form == listOfNames {
		q.out.WriteString("   LID \"name\"\n================\n")
	}
	var r mad.NodeRecord
	for i := range table.Len() {
		if err := table.Record(i, &r); err != nil {
			return err
		}
		name := q.names.NameOf(r.NodeInfo.NodeGUID, r.Description)
		switch {
		case q.form == listOfNames:
			if r.NodeInfo.NodeType == mad.NodeTypeCA {
				fmt.Fprintf(q.out, "%6d  \"%s\"\n", r.LID, name)
			}
		case q.form == nameOfLID && q.lid == r.LID, q.form == nameOfGUID && q.guid == r.NodeInfo.PortGUID:
			fmt.Fprintln(q.out, name)
		case q.form == nameOfLID, q.form == nameOfGUID:
		case q.name != "" && q.name != r.Description.String() && q.name != name:
		case q.form == lidOfName:
			fmt.Fprintln(q.out, uint16(r.LID))
		case q.form == firstLIDOfName:
			fmt.Fprintln(q.out, uint16(r.LID))
			return nil
		case q.form == guidOfName:
			fmt.Fprintln(q.out, r.NodeInfo.PortGUID)
		default:
			if err := printNode(q, &r, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// printManagers prints the ports with the capability IsSM, and the ports
// with a disabled manager.
func (q *query) printManagers() error {
	for _, part := range []struct {
		title      string
		capability mad.PortCapMask
	}{{"IsSM ports", mad.CapSM}, {"\nIsSMdisabled ports", mad.CapSMDisabled}} {
		r := &mad.PortInfoRecord{PortInfo: mad.PortInfo{CapMask: part.capability}}
		titled := false
		title := func() {
			if !titled {
				q.title(part.title)
				titled = true
			}
		}
		err := printRecords(q, r, mad.Components(r, &r.PortInfo.CapMask), mad.MatchCapMask, func(q *query, r *mad.PortInfoRecord, raw []byte) error {
			title()
			return printManager(q, r, raw)
		})
		if err != nil {
			return err
		}
		title()
	}
	return nil
}

// printMembers prints multicast group members with their node names.
func (q *query) printMembers() error {
	members, err := q.get(&mad.MCMemberRecord{}, 0, 0)
	if err != nil {
		return err
	}
	nodes, err := q.get(&mad.NodeRecord{}, 0, 0)
	if err != nil {
		return err
	}
	names := map[ib.GUID]string{}
	var node mad.NodeRecord
	for i := range nodes.Len() {
		if err := nodes.Record(i, &node); err != nil {
			return err
		}
		if _, known := names[node.NodeInfo.PortGUID]; !known {
			names[node.NodeInfo.PortGUID] = q.names.NameOf(node.NodeInfo.NodeGUID, node.Description)
		}
	}
	var r mad.MCMemberRecord
	for i := range members.Len() {
		if err := members.Record(i, &r); err != nil {
			return err
		}
		name, known := names[r.PortGID.GUID()]
		if !known {
			name = "<unknown>"
		}
		q.printMember(&r, name, members.Raw(i))
	}
	return nil
}

func (q *query) printMember(r *mad.MCMemberRecord, name string, raw []byte) {
	if q.name != "" {
		if getopt.Strtol(q.name) == int(r.MLID) {
			q.dotted(normal, "PortGid", text(fmt.Sprintf("%v (%s)", r.PortGID, name)))
		}
		return
	}
	q.title("MCMemberRecord member dump:")
	q.dotted(normal, "MGID", text(r.MGID.String()))
	q.dotted(normal, "Mlid", hexUpper(uint16(r.MLID)))
	q.dotted(normal, "PortGid", text(r.PortGID.String()))
	q.dotted(normal, "ScopeState", hexUpper(r.Scope<<4|uint8(r.JoinState)))
	q.dotted(normal, "ProxyJoin", hexUpper(raw[offProxyJoin]))
	q.dotted(normal, "NodeDescription", text(name))
}
