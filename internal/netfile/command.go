package netfile

import (
	"strings"
)

// A Command is a "do" line: an ibsim console command that changes links. It is applied
// after all links have been made.
type Command struct {
	At   *Line
	Link bool  // else unlink
	Ends []End // unlink: 1 end, link: 2
}

// An End identifies a port; number 0 stands for all node ports.
type End struct {
	ID     string
	Number int
}

// command reads a "do" line.
func (n *reader) command(l *Line) error {
	l.Blanks()
	start := l.At
	word := l.Run(IsLetter)
	c := Command{At: l, Link: strings.EqualFold(word, "Link")}
	if !c.Link && !strings.EqualFold(word, "Unlink") {
		l.At = start
		return l.Errorf("do %s: not supported in a file (only Link and Unlink)", word)
	}
	ends := 1
	if c.Link {
		ends = 2
	}
	for range ends {
		l.Blanks()
		id, err := l.Quoted("the ID of a node")
		if err != nil {
			return err
		}
		e := End{ID: n.expand(id)}
		if c.Link || strings.HasPrefix(l.Rest(), "[") {
			if e.Number, err = l.Bracketed(); err != nil {
				return err
			}
		}
		c.Ends = append(c.Ends, e)
	}
	n.commands = append(n.commands, c)
	return l.End()
}
