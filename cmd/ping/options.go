package ping

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/ping"
)

var rules = cmdutil.FlagRules{
	Clashes: []cmdutil.Clash{
		{Flags: []string{"flood"}, Others: []string{"interval", "rate"}},
		{Flags: []string{"interval"}, Others: []string{"rate"}},
		{Flags: []string{"Guid"}, Others: []string{"Direct"}},
		{Flags: []string{"json"}, Others: []string{"json-lines", "timestamps"}},
		{Flags: []string{"json-lines"}, Others: []string{"timestamps", "quiet", "problems"}},
		{Flags: []string{"json"}, Others: []string{"problems", "lines"}},
		{Flags: []string{"quiet", "json-lines"}, Others: []string{"lines"}},
		{Flags: []string{"quiet"}, Others: []string{"timestamps"}},
	},
	Needs: []cmdutil.Need{
		{Flags: []string{"debug"}, Others: []string{"serve"}},
		{Flags: []string{"from", "hosts-file", "results", "pairs", "paths", "window"}, Others: []string{"mesh"}},
	},
}

// complete checks the command line before the first packet is sent.
func (c *command) complete(ctx context.Context, flags *pflag.FlagSet, args []string) (targets []lookup.Address, err error) {
	if err := c.completeOptions(ctx, flags); err != nil {
		return nil, err
	}
	if c.expect == "-" && c.file == "-" {
		return nil, cmdutil.UsageErrorf("--expect and --targets-file cannot both be standard input")
	}
	if targets, err = c.parseTargets(args); err != nil {
		return nil, err
	}
	if flags.Changed("expect") {
		if c.finder.expected, err = readExpected(c.env.In, c.expect, c.check); err != nil {
			return nil, err
		}
	}
	for _, e := range c.finder.expected {
		targets = append(targets, e.address)
	}
	return targets, nil
}

// completeOptions checks the flags of all pings.
func (c *command) completeOptions(ctx context.Context, flags *pflag.FlagSet) (err error) {
	if err := rules.Check(flags); err != nil {
		return err
	}
	if err := c.fabric.Complete(ctx, c.env); err != nil {
		return err
	}
	if c.auto = c.via == "auto"; !c.auto {
		if err := c.agent.UnmarshalText([]byte(c.via)); err != nil {
			return cmdutil.UsageErrorf("invalid agent %q: not auto, vendor, sma or pma", c.via)
		}
	}
	toServers := c.auto || c.agent == ping.AgentServer
	switch {
	case !toServers && cmdutil.Given(flags, []string{"oui", "payload-size", "payload"}) != "":
		return cmdutil.UsageErrorf("%s has no effect with --via %v", cmdutil.Given(flags, []string{"oui", "payload-size", "payload"}), c.agent)
	case c.oui >= 1<<24:
		return cmdutil.UsageErrorf("invalid --oui 0x%x: not a number of 24 bits", c.oui)
	case c.count < 0:
		return cmdutil.UsageErrorf("invalid --count %d: want at least 0", c.count)
	case c.interval < 0:
		return cmdutil.UsageErrorf("invalid --interval %v: want at least 0", c.interval)
	case flags.Changed("rate") && !(c.rate > 0 && c.rate <= float64(time.Second)):
		return cmdutil.UsageErrorf("invalid --rate %v: want a positive number up to 1e9", c.rate)
	case c.deadline < 0 || c.deadline == 0 && flags.Changed("deadline"):
		return cmdutil.UsageErrorf("invalid --deadline %v: want a time above 0", c.deadline)
	case math.IsNaN(c.limits.loss) || c.limits.loss < 0 || c.limits.loss > 100:
		return cmdutil.UsageErrorf("invalid --max-loss %v: want a percentage from 0 to 100", c.limits.loss)
	case c.limits.p99 < 0 || c.limits.p99 == 0 && flags.Changed("max-p99"):
		return cmdutil.UsageErrorf("invalid --max-p99 %v: want a time above 0", c.limits.p99)
	}
	c.setSchedule(flags)
	if c.options.Payload, err = makePayload(c.size, flags.Changed("payload-size"), c.pattern); err != nil {
		return err
	}
	c.finder = finder{env: c.env, flags: &c.fabric, routes: !c.auto && c.agent == ping.AgentSMA}
	c.finder.names, err = c.fabric.Names(c.env)
	return err
}

// setSchedule derives the number and the times of probes.
func (c *command) setSchedule(flags *pflag.FlagSet) {
	client := c.fabric.Client(c.env)
	o := &c.options
	o.OUI, o.MKey, o.Count, o.Interval, o.Deadline = c.oui, client.MKey, c.count, c.interval, c.deadline
	o.Timeout, o.Window, o.Trace = client.Timeout, client.MaxWindow, client.Trace
	switch {
	case c.flood:
		o.Interval = 0
	case c.rate > 0:
		o.Interval = time.Duration(float64(time.Second) / c.rate)
	}
	if c.count == 0 || c.deadline > 0 && !flags.Changed("count") {
		o.Count = -1
	}
}

// parseTargets reads the targets of the command line and of the file.
func (c *command) parseTargets(args []string) (targets []lookup.Address, err error) {
	if targets, err = cmdutil.ParseTargets(c.env, args, c.guids, c.routes, c.file); err != nil {
		return nil, err
	}
	if len(targets) == 0 && !c.allCAs && !c.allSwitches && c.expect == "" {
		return nil, cmdutil.Missing("target")
	}
	for i := range targets {
		if err := c.check(&targets[i]); err != nil {
			return nil, &cmdutil.UsageError{Err: err}
		}
	}
	return targets, nil
}

// check returns the reason why an address cannot be a target.
func (c *command) check(t *lookup.Address) error {
	switch {
	case t.Kind == lookup.Route && !c.auto && c.agent != ping.AgentSMA:
		return fmt.Errorf("invalid target %q: only subnet management agents (--via sma) are reached by a directed route", t.Text)
	case t.Kind == lookup.IP && c.fabric.IsSimulated():
		err := fmt.Errorf("invalid target %q: a simulated fabric has no IP addresses", t.Text)
		return cmdutil.WithHint(err, "name a LID, a GUID, a GID or a node")
	case t.Kind == lookup.Name && !isPattern(t.Name):
		return fmt.Errorf("invalid target %q: a bracket in the pattern is not closed", t.Text)
	}
	return nil
}

// isPattern reports whether a name is a valid pattern.
func isPattern(name string) bool {
	_, err := path.Match(name, "")
	return err == nil
}

// makePayload returns the payload of probes. A pattern without a size fills the
// largest payload.
func makePayload(size int, sized bool, pattern string) ([]byte, error) {
	if size < 0 || size > ping.PayloadSize {
		return nil, cmdutil.UsageErrorf("invalid --payload-size %d: want 0 to %d bytes", size, ping.PayloadSize)
	}
	unit := make([]byte, ping.PayloadSize)
	for i := range unit {
		unit[i] = byte(i)
	}
	if pattern != "" {
		var err error
		unit, err = hex.DecodeString(strings.TrimPrefix(pattern, "0x"))
		if err != nil || len(unit) == 0 || len(unit) > ping.PayloadSize {
			return nil, cmdutil.UsageErrorf("invalid --payload %q: want 1 to %d bytes in hexadecimal digits", pattern, ping.PayloadSize)
		}
		if !sized {
			size = ping.PayloadSize
		}
	}
	payload := make([]byte, size)
	for i := range payload {
		payload[i] = unit[i%len(unit)]
	}
	return payload, nil
}
