package crew

import (
	"fmt"
	"strings"

	"github.com/ibkit/ibkit/internal/hostlist"
	"github.com/ibkit/ibkit/internal/jsonframe"
)

// replace removes the member with the index of a new worker before the run: its pod has started
// again. The caller holds the lock, and notes the returned refusals without it.
func (c *Crew) replace(m *member, version string) (stale []Refusal) {
	if m.index == nil || c.begun || version != c.o.Version {
		return nil
	}
	for name, old := range c.members {
		if old.index == nil || *old.index != *m.index {
			continue
		}
		reason := fmt.Sprintf("index %d has started again on %.80s", *m.index, jsonframe.Printable(m.Name))
		delete(c.members, name)
		_ = old.send(message{End: &end{reason}}) // it may be gone
		_ = old.conn.Close()                     // its reader ends
		stale = append(stale, Refusal{Name: jsonframe.Printable(name), From: fmt.Sprint(old.conn.RemoteAddr()), Reason: reason})
	}
	return stale
}

// release closes the connections of pods, without the end of the run: they wait for a
// coordinator that starts again.
func (c *Crew) release() {
	c.lock.Lock()
	defer c.lock.Unlock()
	for _, m := range c.members {
		if m.index != nil {
			_ = m.conn.Close()
		}
	}
}

// maxExplained limits the refusals in an explanation.
const maxExplained = 3

// Explain returns the indexes of workers without a known name that did not join, and why the
// coordinator refused workers that know the token. It is "" if neither is known.
func (c *Crew) Explain() string {
	var parts, absent []string
	joined := map[int]bool{}
	for _, m := range c.order {
		if m.index != nil {
			joined[*m.index] = true
		}
	}
	for i := range c.o.Count {
		if len(joined) == len(c.order) && !joined[i] {
			absent = append(absent, fmt.Sprint(i))
		}
	}
	if len(absent) > 0 {
		parts = append(parts, "index "+strings.NewReplacer("[", "", "]", "").Replace(hostlist.Compress(absent)))
	}
	refused, _ := c.Refused()
	for _, r := range refused {
		if r.Name != "" && len(parts) <= maxExplained {
			parts = append(parts, "refused "+r.String())
		}
	}
	return strings.Join(parts, "; ")
}
