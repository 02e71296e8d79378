package softdev

// Schema identifies the version of the JSON encoding of a Report. The file
// schema/link.json describes it.
const Schema = "ibkit/link/1"

// An Outcome is the result of a change.
type Outcome string

// The outcomes.
const (
	Added    Outcome = "added"
	Deleted  Outcome = "deleted"
	Exists   Outcome = "exists"    // the device was there before
	NotReady Outcome = "not ready" // the device exists, but its port is not active or has no GID
	Failed   Outcome = "failed"
)

// String returns the outcome as text.
func (o Outcome) String() string { return string(o) }

// A Report is a change and its result. Its JSON encoding is the output of ibkit link
// --json.
type Report struct {
	Schema string `json:"schema"`
	Change
	DryRun  bool    `json:"dry_run"` // the change was not made: --dry-run, or a refusal
	Users   []User  `json:"users"`   // of a device to delete
	Outcome Outcome `json:"outcome"` // "" if the change was not made
	Active  bool    `json:"active"`  // the port of a new device is active
	GID     *string `json:"gid"`     // first GID of a new device
	Failure *string `json:"failure"` // reason of the outcome failed
}

// NewReport returns the report of a plan that was not carried out.
func NewReport(p *Plan) *Report {
	r := &Report{Schema: Schema, Change: p.Change, DryRun: true, Users: p.Users}
	if r.Users == nil {
		r.Users = []User{}
	}
	return r
}

// NewResult returns the report of a plan that was carried out.
func NewResult(p *Plan, port Port, err error) *Report {
	r := NewReport(p)
	r.DryRun = false
	switch {
	case err != nil:
		r.Outcome, r.Failure = Failed, new(err.Error())
	case p.Action == Delete:
		r.Outcome = Deleted
	case !port.Active || port.GID == "":
		r.Outcome = NotReady
	case p.Needless:
		r.Outcome = Exists
	default:
		r.Outcome = Added
	}
	r.Active = port.Active
	if port.GID != "" {
		r.GID = &port.GID
	}
	return r
}
