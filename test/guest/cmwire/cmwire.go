// Package cmwire decodes connection manager messages in captures, with Wireshark's dissector.
package cmwire

import (
	"os/exec"
	"strings"
	"testing"
)

// names are the messages in class CM by attribute (InfiniBand Architecture, volume 1, 16.7.2).
var names = map[string]string{
	"0x0010": "REQ", "0x0012": "REJ", "0x0013": "REP", "0x0014": "RTU", "0x0015": "DREQ", "0x0016": "DREP", "0x0017": "SIDR_REQ", "0x0018": "SIDR_REP",
}

// A Message is a connection manager message.
type Message struct {
	From   string // sender IP address
	Name   string // "REQ"; the number for an unknown attribute
	Fields map[string]string
}

// Decode returns the messages from a capture in order, with the tshark fields that are
// present in them. It fails the test if the dissector rejects a message.
func Decode(tb testing.TB, capture string, fields ...string) []Message {
	tb.Helper()
	args := []string{
		"-r", capture, "-Y", "infiniband.mad.mgmtclass == 0x07", "-T", "fields", "-E", "occurrence=f",
		"-e", "ip.src", "-e", "infiniband.mad.attributeid", "-e", "_ws.malformed",
	}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	out, err := exec.CommandContext(tb.Context(), "tshark", args...).Output()
	if err != nil {
		tb.Fatalf("tshark: %v", err)
	}
	var all []Message
	for line := range strings.Lines(string(out)) {
		values := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(values) != 3+len(fields) || strings.Contains(values[2], "Malformed Packet: InfiniBand") {
			tb.Fatalf("got %q from tshark, want a valid message", line)
		}
		m := Message{From: values[0], Name: strings.ToLower(values[1]), Fields: map[string]string{}}
		if name := names[m.Name]; name != "" {
			m.Name = name
		}
		for i, f := range fields {
			if v := values[3+i]; v != "" {
				m.Fields[f] = v
			}
		}
		all = append(all, m)
	}
	return all
}
