package sysstat

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"
)

// maxText is the maximum text length. ibsysstat accepts 65,472-byte replies, with 40 header
// bytes and a NUL (infiniband-diags, ibsysstat.c).
const maxText = 65472 - 40 - 1

// cpuAge is the age from which the processor list is read again: processor frequencies
// change, and on large hosts a read takes milliseconds.
const cpuAge = time.Second

// cpus returns the processor list.
func (s *server) cpus() string {
	if s.cpuText != "" && time.Since(s.cpuRead) < cpuAge {
		return s.cpuText
	}
	path := cmp.Or(s.CPUInfo, "/proc/cpuinfo")
	file, err := os.Open(path)
	if err != nil {
		s.Log.Warn("read processors", slog.Any("error", err))
		return ""
	}
	defer file.Close()
	if s.cpuText, err = readCPUs(file); err != nil {
		s.Log.Warn("read processors", slog.String("path", path), slog.Any("error", err))
	}
	s.cpuRead = time.Now()
	return s.cpuText
}

// absent stands for a value that the kernel does not report: it is how the C library prints
// the missing string in ibsysstat.
const absent = "(null)"

// readCPUs returns a line for each processor in ibsysstat's form. Values begin with the
// blank after the colon. Lines beyond maxText are omitted.
func readCPUs(r io.Reader) (string, error) {
	var text strings.Builder
	type cpu struct{ model, mhz string }
	var current *cpu
	count := 0
	end := func() {
		if current == nil {
			return
		}
		line := fmt.Sprintf("cpu %d: model %s MHZ %s\n", count, cmp.Or(current.model, absent), cmp.Or(current.mhz, absent))
		if text.Len()+len(line) <= maxText {
			text.WriteString(line)
		}
		count++
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		switch name = strings.TrimSpace(name); {
		case name == "processor":
			end()
			current = &cpu{}
		case current == nil:
		case name == "model name":
			current.model = value
		case name == "cpu MHz":
			current.mhz = value
		}
	}
	end()
	return text.String(), lines.Err()
}
