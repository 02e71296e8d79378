package port

import (
	"log/slog"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/changelog"
	"github.com/ibkit/ibkit/internal/tool/portchange"
)

// record writes a line to the log before a change and another one after it.
func (c *command) record(log *changelog.Log, e portchange.Entry) error {
	st := e.Step
	attrs := append(changelog.Port(st.Port, c.names), slog.String("change", c.wanted.String()), slog.String("before", describe(st, st.Before)))
	if !e.Ended {
		return log.Begin(attrs...)
	}
	return log.End(st.Outcome, st.Failure, append(attrs, slog.String("after", describe(st, st.After)))...)
}

// describe returns the state of a port and the settings that a step changes.
func describe(st *portchange.Step, s *portchange.Status) string {
	if s == nil {
		return "unknown"
	}
	words := []string{stateText(s)}
	for _, e := range st.Edits {
		words = append(words, e.Setting.Name+"="+e.Setting.Show(s))
	}
	return strings.Join(words, " ")
}
