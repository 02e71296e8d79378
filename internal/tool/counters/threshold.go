package counters

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/interrupt"
	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/textfile"
)

// DefaultThresholdPath is infiniband-diags' threshold file.
const DefaultThresholdPath = "/etc/infiniband-diags/error_thresholds"

// A Threshold is the largest counter value that is not an error.
type Threshold struct {
	Counter Counter
	Limit   uint64
}

// Thresholds are counter limits. With the zero value, each counter above 0 exceeds its
// threshold, as for ibqueryerrors without a file.
type Thresholds struct {
	limits [firstTraffic]uint64

	// Given are a file's lines, in their order.
	Given []Threshold
}

// recommended are the limits in the comments in infiniband-diags' threshold file, except
// for XmitWait: its absolute value has no meaning without the port's traffic.
var recommended = []Threshold{
	{SymbolErrors, 10},
	{LinkErrorRecovery, 10},
	{LinkDowned, 10},
	{RcvErrors, 10},
	{RcvRemotePhysErrors, 100},
	{RcvSwitchRelayErrors, 100},
	{XmitDiscards, 100},
	{XmitConstraintErrors, 100},
	{RcvConstraintErrors, 100},
	{LocalLinkIntegrity, 10},
	{ExcessiveBufferOverrun, 10},
	{VL15Dropped, 100},
	{QP1Dropped, 100},
}

// RecommendedThresholds returns the limits in the comments in infiniband-diags' threshold
// file.
func RecommendedThresholds() Thresholds {
	var t Thresholds
	for _, r := range recommended {
		t.Set(r.Counter, r.Limit)
	}
	return t
}

// DefaultThresholds returns [RecommendedThresholds] with the lines from infiniband-diags'
// threshold file at path, if it exists.
func DefaultThresholds(path string) (Thresholds, error) {
	t := RecommendedThresholds()
	if err := t.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	return t, nil
}

// Set sets an error counter's limit.
func (t *Thresholds) Set(c Counter, limit uint64) { t.limits[c] = limit }

// Limit returns an error counter's limit.
func (t *Thresholds) Limit(c Counter) uint64 { return t.limits[c] }

// Exceeds reports whether an error counter's value is above its limit.
func (t *Thresholds) Exceeds(c Counter, v uint64) bool { return v > t.limits[c] }

// IsGiven reports whether a file has a counter's limit.
func (t *Thresholds) IsGiven(c Counter) bool {
	for _, g := range t.Given {
		if g.Counter == c {
			return true
		}
	}
	return false
}

// Read sets the limits in an ibqueryerrors threshold file: lines NAME=NUMBER with
// perfquery's names and numbers as in C; lines that begin with # and empty lines are
// ignored. name is used in errors, which have type [*textfile.Error]. The limits do not
// change if there is an error.
func (t *Thresholds) Read(r io.Reader, name string) error {
	next := *t
	next.Given = nil
	lines := textfile.NewReader(r, name)
	for lines.Next() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		g, err := parseThreshold(line)
		if err != nil {
			return lines.At(err)
		}
		next.Set(g.Counter, g.Limit)
		next.Given = append(next.Given, g)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	*t = next
	return nil
}

// ReadFile sets the limits in a file. See [Thresholds.Read].
func (t *Thresholds) ReadFile(path string) error {
	file, err := interrupt.Open(path)
	if err != nil {
		return fmt.Errorf("read thresholds: %w", err)
	}
	defer file.Close()
	if err := t.Read(file, path); err != nil {
		return fmt.Errorf("read thresholds: %w", err)
	}
	return nil
}

// onlyInGo matches the number forms that Go has and C does not.
var onlyInGo = lazyregexp.New("_|^0[bBoO]")

// parseThreshold parses NAME=NUMBER.
func parseThreshold(line string) (Threshold, error) {
	name, number, found := strings.Cut(line, "=")
	if !found {
		return Threshold{}, fmt.Errorf("got %s, want COUNTER=NUMBER", textfile.Quote(line))
	}
	name, number = strings.TrimSpace(name), strings.TrimSpace(number)
	for c := range firstTraffic {
		if names[c] != name {
			continue
		}
		limit, err := strconv.ParseUint(number, 0, 64)
		if err != nil || onlyInGo.MatchString(number) {
			return Threshold{}, fmt.Errorf("limit of %s: got %s, want a number from 0 to %d", name, textfile.Quote(number), uint64(1<<64-1))
		}
		return Threshold{c, limit}, nil
	}
	return Threshold{}, fmt.Errorf("unknown error counter %s", textfile.Quote(name))
}
