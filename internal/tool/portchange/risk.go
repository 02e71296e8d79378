package portchange

import (
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/enum"
)

// A Risk is a reason not to change a port: what may not be undone from here, or what affects
// more than the port.
type Risk uint8

// The risks.
const (
	OwnLink  Risk = iota + 1 // requests to the port cross the link
	SMLink                   // the link connects the subnet manager
	LastLink                 // nodes have no other path
	OwnLID                   // replies to this host go to the LID that changes
	SMLID                    // the subnet manager is reached at the LID that changes
	PortLID                  // no route leads to another port's new LID
	SAAccess                 // the port does not reach subnet administration any more
	MKey                     // the subnet manager and other tools need the key
	Mismatch                 // the link ends differ
)

// risks are the risk names, their short description, and what happens.
var risks = []struct{ name, about, detail string }{
	OwnLink: {"own-link", "requests of this host cross the link",
		"the link carries the requests of this host: it could not be brought up again from here"},
	SMLink:   {"sm-link", "the link connects the subnet manager", "the link connects the subnet manager"},
	LastLink: {"last-link", "nodes lose their only path", "nodes lose their only path"},
	OwnLID: {"own-lid", "this host gets another LID",
		"the LID of this host changes: replies and data do not reach it until the subnet manager sets the routes"},
	SMLID: {"sm-lid", "the subnet manager gets another LID",
		"the LID of the subnet manager changes: no port reaches subnet administration until it is told the new LID"},
	PortLID: {"lid", "another port gets another LID",
		"no route leads to the new LID until the subnet manager sets it: connections of the port break"},
	SAAccess: {"sa-access", "the SM LID is not the subnet manager's LID",
		"the port sends its requests for subnet administration to another LID than that of the subnet manager"},
	MKey: {"m-key", "requests need a new M_Key, or need it for longer",
		"the subnet manager and all tools need the M_Key of this port: without it they cannot manage it"},
	Mismatch: {"mismatch", "MTU or VLs differ from the other end's",
		"the two ends of the link differ afterwards: packets that are too large, or on lanes that only an end has, are lost"},
}

// Risks are all risks.
var Risks = []Risk{OwnLink, SMLink, LastLink, OwnLID, SMLID, PortLID, SAAccess, MKey, Mismatch}

// String returns the risk's name.
func (r Risk) String() string { return risks[r].name }

// About describes the risk in a few words.
func (r Risk) About() string { return risks[r].about }

// Detail describes the risk.
func (r Risk) Detail() string { return risks[r].detail }

// MarshalText returns the risk's name. The error is always nil.
func (r Risk) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses a risk's name.
func (r *Risk) UnmarshalText(text []byte) error {
	return enum.Parse(r, OwnLink, Mismatch, "risk", text)
}

// NotForced returns a plan's risks that are not in a list.
func (p *Plan) NotForced(forced []Risk) []Risk {
	var found []Risk
	for _, st := range p.Steps {
		for _, r := range st.Risks {
			if !slices.Contains(forced, r) && !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
	}
	slices.Sort(found)
	return found
}

// addLinkRisks finds the risks for a link that goes down: a link that trains may stay down,
// too. around reports that requests do not need the link, lost are the nodes that do.
func (s *Session) addLinkRisks(st *Step, around bool, lost []*fabric.Node) {
	p := st.Port
	if p.Peer == nil {
		return
	}
	if !around || s.isLocal(p) || s.isLocal(p.Peer) {
		st.Risks = append(st.Risks, OwnLink)
	}
	if sm := s.managerPort(); sm != nil && (sm == p || sm == p.Peer) {
		st.Risks = append(st.Risks, SMLink)
	}
	if len(lost) > 0 {
		st.Risks = append(st.Risks, LastLink)
	}
}

// isLocal reports whether a port sends the requests.
func (s *Session) isLocal(p *fabric.Port) bool {
	return p.Node == s.Fabric.Start && (p.Number == s.Fabric.StartPort || p.Node.IsSwitch())
}

// ownHost returns the local node if a port's link is its own, and nil on a switch.
func (s *Session) ownHost(p *fabric.Port) *fabric.Node {
	start := s.Fabric.Start
	if start.IsSwitch() || !s.isLocal(p) && (p.Peer == nil || !s.isLocal(p.Peer)) {
		return nil
	}
	return start
}

// managerPort returns the port with the local port's subnet manager, nil if it is unknown.
func (s *Session) managerPort() *fabric.Port { return portWithLID(s.Fabric, s.source.Local().SMLID) }

// addSettingRisks finds the risks for settings that change.
func (s *Session) addSettingRisks(st *Step) {
	add := func(r Risk) {
		if !slices.Contains(st.Risks, r) {
			st.Risks = append(st.Risks, r)
		}
	}
	for _, e := range st.Edits {
		if e.fromValue == e.toValue {
			continue
		}
		switch e.Setting.Name {
		case "lid", "lmc":
			s.addLIDRisks(st, e, add)
		case "smlid":
			if manager := s.source.Local().SMLID; manager == 0 || e.toValue != uint64(manager) {
				add(SAAccess)
			}
		case "mkey":
			if e.toValue != 0 {
				add(MKey)
			}
		case "mkeyprot":
			if e.toValue > e.fromValue {
				add(MKey)
			}
		case "mkeylease":
			if e.toValue == 0 { // the key does not expire any more
				add(MKey)
			}
		case "mtu", "vls":
			if st.Port.Peer != nil && (st.Peer == nil || e.toValue != e.Setting.get(st.Peer)) {
				add(Mismatch)
			}
		}
	}
}

// addLIDRisks finds the risks from other LIDs. A larger LMC keeps the first LID.
func (s *Session) addLIDRisks(st *Step, e Edit, add func(Risk)) {
	if e.Setting.Name == "lmc" && e.toValue > e.fromValue {
		return
	}
	others := true
	if s.isLocal(st.Port) {
		add(OwnLID)
		others = false
	}
	if sm := s.managerPort(); sm != nil && sm == st.Port {
		add(SMLID)
		others = false
	}
	if others && st.Before.Info.LID != 0 {
		add(PortLID)
	}
}
