package mesh

import (
	"fmt"
	"os"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/internal/plural"
	"github.com/ibkit/ibkit/internal/tool/mesh"
	"github.com/ibkit/ibkit/internal/tool/mesh/drain"
	"github.com/ibkit/ibkit/report"
)

// Termination messages of pods.
const (
	terminationLog = "/dev/termination-log" // the default terminationMessagePath
	maxTermination = 4096                   // bytes
)

// terminate writes the worst findings to the termination log, by default that of a pod.
func (c *coordinator) terminate(r *mesh.Result, summary string) {
	path, flags := c.termination, os.O_WRONLY|os.O_CREATE|os.O_TRUNC
	if path == "" {
		if c.env.Getenv(drain.InPod) == "" {
			return
		}
		path, flags = terminationLog, os.O_WRONLY|os.O_TRUNC // the kubelet creates it
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if os.IsNotExist(err) && c.termination == "" {
		return
	}
	if err == nil {
		_, err = file.WriteString(terminationText(r, summary))
		if closed := file.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		cmdutil.PrintError(c.env, c.from, fmt.Errorf("write the verdict: %w", err))
	}
}

// terminationText returns a verdict in a limited number of bytes, the worst findings first.
func terminationText(r *mesh.Result, summary string) string {
	lines := []string{summary}
	for _, f := range r.Failures {
		if f.Subject == "" {
			lines = append(lines, "failure: "+f.Error)
		}
	}
	for _, b := range r.BadHosts {
		switch {
		case b.Error != "":
			lines = append(lines, fmt.Sprintf("not drained: %s: %s", b.Host, b.Error))
		case b.Action == mesh.Drained, b.Action == mesh.Withheld:
			lines = append(lines, fmt.Sprintf("%s: %s", b.Action, b.Host))
		}
	}
	for _, severity := range report.Severities() {
		for _, f := range r.Findings {
			if f.Severity == severity {
				lines = append(lines, fmt.Sprintf("%s: %s %s", f.Severity, f.Kind, f.Text()))
			}
		}
	}
	text := ""
	for i, line := range lines {
		line = cmdutil.Visible(line) + "\n"
		more := plural.Count(len(lines)-i, "more line", "more lines") + " in the log\n"
		if len(text)+len(line)+len(more) > maxTermination {
			return text + more
		}
		text += line
	}
	return text
}
