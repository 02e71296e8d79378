package sm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/outcome"
	"github.com/ibkit/ibkit/mad"
)

// A Risk is a reason not to change a manager's state.
type Risk string

// The risks.
const (
	OnlyManager  Risk = "only-manager"  // no other manager can take over
	MasterLeaves Risk = "master-leaves" // the master stops, until another manager takes over
	SecondMaster Risk = "second-master" // another manager is master
)

// Risks are all risks.
var Risks = []Risk{OnlyManager, MasterLeaves, SecondMaster}

// String returns the risk's name.
func (r Risk) String() string { return string(r) }

// Detail describes the risk.
func (r Risk) Detail() string {
	switch r {
	case OnlyManager:
		return "nobody else can manage the subnet: LIDs and routes stay, but changes are not noticed"
	case MasterLeaves:
		return "nobody manages the subnet until another manager takes over: changes are not noticed"
	}
	return "another manager is master: both configure the subnet until either yields"
}

// A Change is an operation for a manager, with values for the SMInfo in the request.
type Change struct {
	Operation Operation
	State     mad.SMState // the sender's: Operation.Sender
	Priority  uint8
	ActCount  uint32
}

// A Plan is a change with its effects.
type Plan struct {
	Began     time.Time
	Operation Operation
	Manager   *Manager   // at the target, with its SMInfo before the change
	Others    []*Manager // in the fabric
	Request   mad.SMInfo
	Risks     []Risk

	// Warnings are sources for the other managers that could not be read.
	Warnings []error

	// Set by [Session.Apply]:
	Outcome outcome.Outcome
	Failure error       // cause for an outcome other than Changed and Unneeded
	After   *mad.SMInfo // nil: no reply
	Elapsed time.Duration
}

// Needless reports that the manager is already in the wanted state.
func (p *Plan) Needless() bool { return p.Manager.Info.State == p.Operation.LeadsTo() }

// NotForced returns the risks that are not in a list.
func (p *Plan) NotForced(forced []Risk) []Risk {
	return slices.DeleteFunc(slices.Clone(p.Risks), func(r Risk) bool { return slices.Contains(forced, r) })
}

// A Session is access to a fabric's managers to change a single manager. It is not safe for
// concurrent use.
type Session struct {
	*fabric.Session
	Options
}

// NewSession opens the local port. The caller closes the session.
func NewSession(ctx context.Context, o Options) (*Session, error) {
	session, err := o.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &Session{session, o}, nil
}

// Plan reads the manager at the options' only target and all other managers, and determines
// a change's risks.
func (s *Session) Plan(ctx context.Context, c Change) (*Plan, error) {
	began := time.Now()
	m, err := s.target(ctx)
	if err != nil {
		return nil, err
	}
	others, warnings, err := s.others(ctx, m)
	if err != nil {
		return nil, err
	}
	p := &Plan{Began: began, Operation: c.Operation, Manager: m, Others: others, Warnings: warnings}
	p.Request = mad.SMInfo{GUID: s.Local().PortGUID, State: c.State, Priority: c.Priority, ActCount: c.ActCount}
	if master := p.otherMaster(); master != nil {
		// A manager that becomes standby polls the GUID in the request, and takes over if
		// it does not reply (opensm, osm_sminfo_rcv.c).
		p.Request.GUID = master.GUID()
	}
	p.addRisks()
	return p, nil
}

// target reads the manager at the target.
func (s *Session) target(ctx context.Context) (*Manager, error) {
	r := s.run(ctx, s.Options)
	if err := r.findTargets(); err != nil {
		return nil, err
	}
	if n := len(r.result.Managers); n != 1 {
		return nil, fmt.Errorf("find subnet manager: got %d ports, want 1", n)
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	m := r.result.Managers[0]
	switch {
	case m.Info == nil:
		return nil, fmt.Errorf("read subnet manager at %s: %w", m.To.Place(), m.Err)
	case m.Node == nil:
		return nil, fmt.Errorf("read node at %s: no reply", m.To.Place())
	}
	return m, nil
}

// others reads all managers in the fabric but m. Sources that could not be read are
// warnings.
func (s *Session) others(ctx context.Context, m *Manager) (others []*Manager, warnings []error, err error) {
	o := s.Options
	o.Targets = nil
	r := s.run(ctx, o)
	if err := r.find(); err != nil {
		return nil, nil, err
	}
	if err := r.read(); err != nil {
		return nil, nil, err
	}
	for _, other := range r.result.Managers {
		var status mad.StatusError
		switch {
		case other.GUID() == m.Node.PortGUID || other.To == m.To:
		case other.Info == nil && errors.As(other.Err, &status): // has the capability only
		default:
			others = append(others, other)
		}
	}
	return others, r.result.Warnings, nil
}

// run returns a run that reads SMInfo once.
func (s *Session) run(ctx context.Context, o Options) *run {
	o.Wait = 0
	return newRun(ctx, o, s.Session)
}

// otherMaster returns the master among the other managers, or nil.
func (p *Plan) otherMaster() *Manager {
	i := slices.IndexFunc(p.Others, func(m *Manager) bool { return m.Info != nil && m.Info.State == mad.SMMaster })
	if i < 0 {
		return nil
	}
	return p.Others[i]
}

// addRisks finds the risks. A manager that does not reply cannot take over.
func (p *Plan) addRisks() {
	from := p.Manager.Info.State
	active := slices.ContainsFunc(p.Others, func(m *Manager) bool { return m.Info != nil && m.Info.State != mad.SMNotActive })
	master := p.otherMaster()
	switch {
	case p.Needless():
	case p.Operation.retires(from) && !active:
		p.Risks = []Risk{OnlyManager}
	case p.Operation.retires(from) && from == mad.SMMaster && master == nil:
		p.Risks = []Risk{MasterLeaves}
	case p.Operation == Handover && master != nil:
		p.Risks = []Risk{SecondMaster}
	}
}
