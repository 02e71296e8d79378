package crew

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"
)

// Members returns the names of workers that joined, in the order of Expect or of the names.
func (c *Crew) Members() []string {
	var all []string
	for _, m := range c.order {
		all = append(all, m.Name)
	}
	return all
}

// Losses returns the members that were lost, in the order of Members.
func (c *Crew) Losses() []Loss {
	var all []Loss
	for _, m := range c.order {
		if m.lost != nil {
			all = append(all, *m.lost)
		}
	}
	return all
}

// Missing returns the expected names that did not join, and the number of workers without
// a known name that did not.
func (c *Crew) Missing() (names []string, unnamed int) {
	if c.o.Expect == nil {
		return nil, c.o.Count - len(c.order)
	}
	for _, name := range c.o.Expect {
		if !slices.ContainsFunc(c.order, func(m *member) bool { return m.Name == name }) {
			names = append(names, name)
		}
	}
	return names, 0
}

// Refused returns the first refusals, and the number of all.
func (c *Crew) Refused() ([]Refusal, int) {
	c.lock.Lock()
	defer c.lock.Unlock()
	return slices.Clone(c.refused), c.refusals
}

// partLimit is the time in which members end after the run.
const partLimit = 2 * time.Second

// Close announces the end of the run to the members and waits briefly until they have left.
func (c *Crew) Close(summary string) {
	_ = c.listener.Close()
	c.lock.Lock()
	c.begun = true
	present := map[*member]bool{}
	for _, m := range c.members {
		if m.welcome && m.lost == nil && m.send(message{End: &end{summary}}) == nil {
			present[m] = true
		}
	}
	c.lock.Unlock()
	timer := time.NewTimer(partLimit)
	defer timer.Stop()
	for late := false; len(present) > 0 && !late; {
		select {
		case a := <-c.inbox:
			if a.err != nil {
				delete(present, a.from)
			}
		case <-timer.C:
			late = true
		}
	}
	close(c.over)
	c.lock.Lock()
	for _, m := range c.members {
		_ = m.conn.Close()
	}
	c.lock.Unlock()
	c.running.Wait()
}

// fanOuts are default numbers of hosts on which launchers run a command at the same time,
// with the option that changes it.
var fanOuts = []struct {
	count  int
	advice string
}{
	{5, "ansible -f %d"}, {32, "pdsh -f %d"}, {64, "clush -f %d"},
}

// FanOutHint returns advice if as many workers joined as a launcher starts at a time by
// default: it starts more only after the first have ended.
func FanOutHint(joined, expected int) string {
	for _, f := range fanOuts {
		if joined == f.count && expected > joined {
			return fmt.Sprintf("%d of %d joined, as many as a launcher starts at a time: "+f.advice, joined, expected, expected)
		}
	}
	return ""
}

// reasonOfEnd returns why a member's connection ended.
func reasonOfEnd(err error) string {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, syscall.ECONNRESET):
		return "the connection ended"
	case errors.Is(err, syscall.ETIMEDOUT):
		return "its host does not respond"
	}
	return err.Error()
}
