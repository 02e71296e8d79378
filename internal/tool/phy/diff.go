package phy

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/textfile"
)

// A Change is a difference between two readings of a link end.
type Change struct {
	NodeGUID ib.GUID `json:"node_guid"`
	Name     string  `json:"name"`
	Port     uint8   `json:"port"`
	Quantity string  `json:"quantity"` // for example "rx power of lane 2"
	Before   string  `json:"old"`
	Now      string  `json:"new"`
}

// Differences that are changes: smaller ones are within the precision of the measurement.
const (
	changedDB      = 1.0
	changedCelsius = 10.0
	changedRate    = 10.0 // factor
)

// ReadReport reads a document from a file.
func ReadReport(name string) (*Report, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if err := textfile.DecodeJSON(text, name, &head); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	if head.Schema != ReportSchema {
		return nil, fmt.Errorf("read report: %s: got schema %q, want %s from ibkit phy --json", name, head.Schema, ReportSchema)
	}
	r := new(Report)
	if err := textfile.DecodeJSON(text, name, r); err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	return r, nil
}

// A differ collects the changes of a link end.
type differ struct {
	end     *ReportEnd
	changes []Change
}

func (d *differ) add(what, before, now string) {
	d.changes = append(d.changes, Change{d.end.NodeGUID, d.end.Name, d.end.Port, what, before, now})
}

// ErrOtherFabric reports a reading without any link end of another.
var ErrOtherFabric = errors.New("the readings have no link end in common")

// Diff returns the changes from an earlier reading to a later one. Of a link end that either
// reading lacks, values are not compared.
func Diff(before, now *Report) ([]Change, error) {
	type key struct {
		guid ib.GUID
		port uint8
	}
	old := map[key]*ReportEnd{}
	for i := range before.Ends {
		old[key{before.Ends[i].NodeGUID, before.Ends[i].Port}] = &before.Ends[i]
	}
	var d differ
	common := 0
	for i := range now.Ends {
		d.end = &now.Ends[i]
		at := key{d.end.NodeGUID, d.end.Port}
		if e := old[at]; e != nil {
			common++
			d.compare(e, d.end)
			delete(old, at)
		} else {
			d.add("reading", "not read", "read")
		}
	}
	if common == 0 && len(before.Ends) > 0 && len(now.Ends) > 0 {
		return nil, ErrOtherFabric
	}
	var lost []*ReportEnd
	for _, e := range old {
		lost = append(lost, e)
	}
	slices.SortFunc(lost, func(a, b *ReportEnd) int {
		return cmp.Or(cmp.Compare(a.NodeGUID, b.NodeGUID), cmp.Compare(a.Port, b.Port))
	})
	for _, e := range lost {
		d.end = e
		d.add("reading", "read", "not read")
	}
	return d.changes, nil
}

// peerText returns the name of the port at the other end, "" if it is unknown.
func peerText(e *ReportEnd) string {
	if e.Peer == nil || e.Peer.Name == nil {
		return ""
	}
	return fabric.PortName(*e.Peer.Name, int(e.Peer.Port))
}

func (d *differ) compare(a, b *ReportEnd) {
	if x, y := peerText(a), peerText(b); x != "" && y != "" && x != y {
		d.add("peer", x, y)
	}
	if a.Module != nil && b.Module != nil {
		d.module(a.Module, b.Module)
	}
	if x, y := a.BitErrors, b.BitErrors; x != nil && y != nil {
		d.rate("raw BER", x.Raw, y.Raw)
		d.rate("effective BER", x.Effective, y.Effective)
		d.rate("symbol BER", x.Symbol, y.Symbol)
	}
	if x, y := a.Counters, b.Counters; x != nil && y != nil && y.LinkDowns > x.LinkDowns {
		d.add("link downs", fmt.Sprint(x.LinkDowns), fmt.Sprint(y.LinkDowns))
	}
}

// module compares modules. Values of a replaced module are not compared.
func (d *differ) module(a, b *ReportModule) {
	switch {
	case a.Plugged != b.Plugged || a.SerialNumber != b.SerialNumber:
		d.add("module", moduleText(a), moduleText(b))
		return
	case a.Firmware != nil && b.Firmware != nil && *a.Firmware != *b.Firmware:
		d.add("module firmware", *a.Firmware, *b.Firmware)
	}
	if x, y := a.Celsius, b.Celsius; x != nil && y != nil && math.Abs(*y-*x) >= changedCelsius {
		d.add("temperature", fmt.Sprintf("%.1f °C", *x), fmt.Sprintf("%.1f °C", *y))
	}
	for i := range min(len(a.Lanes), len(b.Lanes)) {
		d.power(fmt.Sprintf("rx power of lane %d", i), a.Lanes[i].Rx, b.Lanes[i].Rx)
		d.power(fmt.Sprintf("tx power of lane %d", i), a.Lanes[i].Tx, b.Lanes[i].Tx)
	}
}

func moduleText(m *ReportModule) string {
	if !m.Plugged {
		return "unplugged"
	}
	return m.PartNumber + " " + m.SerialNumber
}

// power compares power in dBm, nil for no light.
func (d *differ) power(what string, a, b *float64) {
	switch {
	case a == nil && b == nil:
	case a == nil || b == nil:
		d.add(what, powerText(a), powerText(b))
	case math.Abs(*b-*a) >= changedDB:
		d.add(what, powerText(a), fmt.Sprintf("%s (%+.1f dB)", powerText(b), *b-*a))
	}
}

func powerText(v *float64) string {
	if v == nil {
		return "no light"
	}
	return fmt.Sprintf("%.1f dBm", *v)
}

// LightText returns power in dBm, "dark" for no light.
func LightText(v *float64) string {
	if v == nil {
		return "dark"
	}
	return fmt.Sprintf("%.1f", *v)
}

// RateText returns a bit error rate with a digit; "0" stands for no errors, as in the register.
func RateText(v float64) string {
	if v == 0 {
		return "0"
	}
	return fmt.Sprintf("%.0e", v)
}

// rate compares bit error rates, which differ by a factor.
func (d *differ) rate(what string, a, b float64) {
	if a != b && (b >= a*changedRate || a >= b*changedRate) {
		d.add(what, RateText(a), RateText(b))
	}
}
