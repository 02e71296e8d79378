package crew

import (
	"io"
	"time"

	"github.com/ibkit/ibkit/internal/jsonframe"
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
	Begin     *struct{}  `json:"begin,omitempty"`
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
	Version string `json:"version"`
	Nonce   []byte `json:"nonce"`
	Proof   []byte `json:"proof"`
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
	To    string   `json:"to"`
	Model *Figures `json:"model,omitempty"` // the result
}

// Figures are the results of a measurement. A nil figure was not measured.
type Figures struct {
	Gbps    *float64      `json:"gbps,omitempty"`
	Latency *float64      `json:"latency_us,omitempty"`
	Takes   time.Duration `json:"takes_ns,omitempty"` // of a simulated measurement
	Error   string        `json:"error,omitempty"`    // of the pair
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
	if m.Report != nil {
		for i := range m.Report.Results {
			m.Report.Results[i].Error = jsonframe.Printable(m.Report.Results[i].Error)
		}
	}
	if m.End != nil {
		m.End.Summary = jsonframe.Printable(m.End.Summary)
	}
	return m, nil
}
