package mesh

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/textfile"
)

// fileSchedule is the name of the schedule that a file has.
const fileSchedule = "file"

// A fileRounds is the rounds of a file, with names of senders and receivers.
type fileRounds struct {
	path   string
	rounds [][][2]string
}

// readSchedule reads lines of ROUND SENDER RECEIVER, with spaces, or commas as mesh plan --csv
// prints them. Rounds are in the order of their numbers.
func readSchedule(path string) (*fileRounds, error) {
	in, err := interrupt.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	byNumber := map[int][][2]string{}
	lines := textfile.NewReader(in, path)
	for first := true; lines.Next(); first = false {
		text := strings.TrimSpace(string(lines.Bytes()))
		if text == "" || strings.HasPrefix(text, "#") || first && strings.HasPrefix(text, "round,") {
			continue
		}
		number, flow, err := parseScheduleLine(text)
		if err != nil {
			return nil, lines.At(err)
		}
		byNumber[number] = append(byNumber[number], flow)
	}
	if err := lines.End(); err != nil {
		return nil, err
	}
	f := &fileRounds{path: path}
	for _, number := range slices.Sorted(maps.Keys(byNumber)) {
		f.rounds = append(f.rounds, byNumber[number])
	}
	if len(f.rounds) == 0 {
		return nil, fmt.Errorf("%s: the file has no rounds", path)
	}
	return f, nil
}

// parseScheduleLine parses the round and the flow of a line.
func parseScheduleLine(text string) (number int, flow [2]string, err error) {
	fields := strings.Fields(text)
	if strings.Contains(text, ",") {
		fields = strings.Split(text, ",")
		for i := range fields {
			fields[i] = textfile.ParseCSVText(strings.TrimSpace(fields[i]))
		}
	}
	if len(fields) != 3 {
		return 0, flow, fmt.Errorf("got %d fields, want ROUND SENDER RECEIVER", len(fields))
	}
	if number, err = strconv.Atoi(fields[0]); err != nil || number < 0 {
		return 0, flow, fmt.Errorf("got the round %s, want a number", textfile.Quote([]byte(fields[0])))
	}
	return number, [2]string{fields[1], fields[2]}, nil
}

// check returns an error for a name that no port of a known fabric has, or several.
func (f *fileRounds) check(w *Wiring) error {
	if f == nil || w.Paths == FromNames {
		return nil // members that did not join have names, too
	}
	for _, round := range f.rounds {
		for _, flow := range round {
			for _, name := range flow {
				if found := w.resolve(name); len(found) != 1 {
					return fmt.Errorf("schedule %s: find host %s: got %d ports with this name, want 1", f.path, name, len(found))
				}
			}
		}
	}
	return nil
}

// of returns the rounds of the members, without flows of others.
func (f *fileRounds) of(m *members) iter.Seq[[]pair] {
	at := map[int32]int32{}
	for i, end := range m.ends {
		at[end] = int32(i)
	}
	member := func(name string) (int32, bool) {
		found := m.wiring.resolve(name)
		if len(found) != 1 {
			return 0, false
		}
		i, ok := at[found[0]]
		return i, ok
	}
	return func(yield func([]pair) bool) {
		for _, round := range f.rounds {
			var pairs []pair
			for _, flow := range round {
				from, ok := member(flow[0])
				to, also := member(flow[1])
				if ok && also {
					pairs = append(pairs, pair{from, to})
				}
			}
			if len(pairs) > 0 && !yield(pairs) {
				return
			}
		}
	}
}
