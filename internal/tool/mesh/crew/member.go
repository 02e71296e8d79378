package crew

import (
	"bufio"
	"net"
	"time"

	"github.com/ibkit/ibkit/internal/jsonframe"
)

// A LossKind is the way in which a member left the run.
type LossKind string

// Ways of losing a member.
const (
	Hung LossKind = "hung" // no report within the limit of a round
	Died LossKind = "died" // the connection ended
	Left LossKind = "left" // the worker was interrupted
)

// A Loss is a member that is left out from a round on.
type Loss struct {
	Name   string
	Kind   LossKind
	Round  int // from 1; 0: before the first round
	Detail string
}

// A member is the coordinator's side of a worker.
type member struct {
	Name  string
	conn  net.Conn
	input *bufio.Reader

	index   *int // of a pod
	offer   Offer
	welcome bool // has been welcomed
	lost    *Loss
}

// An arrival is a message of a member, or the error that ended its connection.
type arrival struct {
	from *member
	message
	err error
}

// sendLimit is the time in which a peer must read a message.
const sendLimit = time.Second

func (m *member) send(msg message) error {
	if err := m.conn.SetWriteDeadline(time.Now().Add(sendLimit)); err != nil {
		return err
	}
	return jsonframe.Write(m.conn, msg, maxMessage)
}

// receive reads a member's messages until its connection or the run ends.
func (c *Crew) receive(m *member) {
	for {
		msg, err := read(m.input, maxMessage)
		select {
		case c.inbox <- arrival{m, msg, err}:
		case <-c.over:
			return
		}
		if err != nil {
			return
		}
	}
}

// lose leaves a member out from now on.
func (c *Crew) lose(m *member, kind LossKind, detail string) {
	if m.lost != nil {
		return
	}
	m.lost = &Loss{Name: m.Name, Kind: kind, Round: c.number, Detail: detail}
	_ = m.conn.Close() // its reader ends
	c.o.event(Event{Lost: m.lost})
}
