package crew

import (
	"io"
	"net/netip"
	"time"

	"github.com/ibkit/ibkit/internal/jsonframe"
	"github.com/ibkit/ibkit/internal/tool/perf"
)

// A message is a message between coordinator and worker, with one member. The coordinator
// begins:
//
//	challenge  join     the coordinator's nonce; name and proof of the worker
//	welcome             proof of the coordinator, or
//	refused             the reason, and the end of the connection
//	begin               joining is over
//	task       report   in each round with a part for the worker
//	end                 the end of the run
//
// A worker that is interrupted sends leave.
type message struct {
	Challenge *challenge `json:"challenge,omitempty"`
	Join      *join      `json:"join,omitempty"`
	Welcome   *welcome   `json:"welcome,omitempty"`
	Refused   string     `json:"refused,omitempty"`
	Begin     *begin     `json:"begin,omitempty"`
	Task      *Task      `json:"task,omitempty"`
	Report    *taskDone  `json:"report,omitempty"`
	Leave     string     `json:"leave,omitempty"`
	End       *end       `json:"end,omitempty"`
}

type challenge struct {
	Version string `json:"version"`
	Nonce   []byte `json:"nonce"`
}

type join struct {
	Name    string `json:"name"`
	Index   *int   `json:"index,omitempty"` // of a pod
	Version string `json:"version"`
	Nonce   []byte `json:"nonce"`
	Proof   []byte `json:"proof"`
	Offer   *Offer `json:"offer,omitempty"`
}

// begin has the tests of all rounds, and the addresses of the members to serve; none in a
// simulated run.
type begin struct {
	Tests []perf.Test  `json:"tests,omitempty"`
	Load  []perf.Test  `json:"load,omitempty"`
	Serve []netip.Addr `json:"serve,omitempty"`
}

type welcome struct {
	Proof   []byte        `json:"proof"`
	Silence time.Duration `json:"silence_ns"` // maximum time without a message of the coordinator
}

type end struct {
	Summary string `json:"summary"`
}

// A Task is a worker's part in a round. A worker without sends reports at once: it is there.
type Task struct {
	Number int           `json:"number"`
	Within time.Duration `json:"within_ns"` // limit of each send
	Sends  []Send        `json:"sends,omitempty"`
}

// A Send is a measurement from a worker to another.
type Send struct {
	To    string        `json:"to"`
	Rail  int           `json:"rail,omitempty"` // of the worker
	Peer  string        `json:"peer,omitempty"` // HOST:PORT at which the other rail serves
	Load  bool          `json:"load,omitempty"` // a load instead of the tests
	Wait  time.Duration `json:"wait_ns,omitempty"`
	Model *Figures      `json:"model,omitempty"` // the result
}

// Figures are the results of a measurement. A nil figure was not measured.
type Figures struct {
	Gbps    *float64      `json:"gbps,omitempty"`
	Latency *float64      `json:"latency_us,omitempty"`
	Takes   time.Duration `json:"takes_ns,omitempty"` // of a simulated measurement
	Error   string        `json:"error,omitempty"`    // of the pair
	Corrupt bool          `json:"corrupt,omitempty"`  // a payload was
	Signs   []Sign        `json:"signs,omitempty"`
}

// A Sign is a counter that increased during a measurement and explains a bad figure, or
// the state of a link.
type Sign struct {
	Receiver bool   `json:"receiver,omitempty"` // at the other end
	Text     string `json:"text"`
}

type taskDone struct {
	Number  int       `json:"number"`
	Results []Figures `json:"results,omitempty"` // by send
}

// Limits of messages in bytes: from a peer that has not proved the token, and from others.
const (
	maxHandshake = 64 << 10
	maxMessage   = 4 << 20
)

// read reads a message and makes its texts safe for a terminal.
func read(r io.Reader, limit int) (message, error) {
	var m message
	if err := jsonframe.Read(r, &m, limit); err != nil {
		return message{}, err
	}
	m.Refused, m.Leave = jsonframe.Printable(m.Refused), jsonframe.Printable(m.Leave)
	if m.Challenge != nil {
		m.Challenge.Version = jsonframe.Printable(m.Challenge.Version)
	}
	if m.Join != nil && m.Join.Offer != nil {
		m.Join.Offer.clean()
	}
	if m.Report != nil {
		for i := range m.Report.Results {
			f := &m.Report.Results[i]
			f.Error = jsonframe.Printable(f.Error)
			for k := range f.Signs {
				f.Signs[k].Text = jsonframe.Printable(f.Signs[k].Text)
			}
		}
	}
	if m.End != nil {
		m.End.Summary = jsonframe.Printable(m.End.Summary)
	}
	return m, nil
}
