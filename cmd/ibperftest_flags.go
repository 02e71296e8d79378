package cmd

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

// Options of perftest that have no letter.
const (
	firstLong = 128
	optGbits  = iota + firstLong
	optOutput
	optTClass
	optPKeyIndex
	optRetry
)

// A perftestOption is an option of the programs, and which of them have it.
type perftestOption struct {
	getoptFlag
	argument, help string
	has            func(perftest.Order) bool // nil: all
}

func ofBandwidth(o perftest.Order) bool { return o.Bandwidth }
func ofSends(o perftest.Order) bool     { return o.Verb == perftest.Send }
func ofAtomics(o perftest.Order) bool   { return o.Verb == perftest.Atomic }
func ofAnySize(o perftest.Order) bool   { return o.Verb != perftest.Atomic }
func ofPayloads(o perftest.Order) bool  { return o.Verb == perftest.Send || o.Verb == perftest.Write }
func ofResponses(o perftest.Order) bool { return o.Verb == perftest.Read || o.Verb == perftest.Atomic }

// perftestOptions are the options that ibkit has of perftest's. Any other is
// refused: what the other side was told must not be passed over.
var perftestOptions = []perftestOption{
	{getoptFlag{"all", 'a', false}, "", "sizes from 2 to 2^23", ofAnySize},
	{getoptFlag{"atomic_type", 'A', true}, "TYPE", "CMP_AND_SWAP or FETCH_AND_ADD (default)", ofAtomics},
	{getoptFlag{"bidirectional", 'b', false}, "", "both sides send", ofBandwidth},
	{getoptFlag{"connection", 'c', true}, "TYPE", "RC (default), UC or UD", nil},
	{getoptFlag{"ib-dev", 'd', true}, "DEVICE", "default: the one with the best GID towards the other side", nil},
	{getoptFlag{"duration", 'D', true}, "SECONDS", "measure for a time", nil},
	{getoptFlag{"events", 'e', false}, "", "wait for completion events", ofSends},
	{getoptFlag{"margin", 'f', true}, "SECONDS", "what does not count at either end of -D (default 2)", nil},
	{getoptFlag{"CPU-freq", 'F', false}, "", "no warning of the processor's frequency; there is none, as it is not used", nil},
	{getoptFlag{"help", 'h', false}, "", "show this", nil},
	{getoptFlag{"ib-port", 'i', true}, "PORT", "default: the first active one", nil},
	{getoptFlag{"inline_size", 'I', true}, "BYTES", "data of messages up to this size is in the work request", ofPayloads},
	{getoptFlag{"post_list", 'l', true}, "N", "post N messages at a time", ofBandwidth},
	{getoptFlag{"mtu", 'm', true}, "BYTES", "default: the port's", nil},
	{getoptFlag{"iters", 'n', true}, "N", "messages, at least 5 (default 1000, of ib_write_bw 5000)", nil},
	{getoptFlag{"noPeak", 'N', false}, "", "no peak bandwidth", ofBandwidth},
	{getoptFlag{"outs", 'o', true}, "N", "operations under way (default: as many as the device does)", ofResponses},
	{getoptFlag{"port", 'p', true}, "PORT", "TCP port (default 18515)", nil},
	{getoptFlag{"qp", 'q', true}, "N", "queue pairs", ofBandwidth},
	{getoptFlag{"cq-mod", 'Q', true}, "N", "a completion of every Nth message (default 100)", ofBandwidth},
	{getoptFlag{"rx-depth", 'r', true}, "N", "receives posted (default 512)", ofSends},
	{getoptFlag{"size", 's', true}, "BYTES", "of a message (default 2, of bandwidth 65536)", ofAnySize},
	{getoptFlag{"sl", 'S', true}, "SL", "service level", nil},
	{getoptFlag{"tx-depth", 't', true}, "N", "messages under way (default 128)", ofBandwidth},
	{getoptFlag{"qp-timeout", 'u', true}, "N", "4.096 us * 2^N (default 14)", nil},
	{getoptFlag{"version", 'V', false}, "", "show the version", nil},
	{getoptFlag{"limit_bw", 'w', true}, "RATE", "exit with 1 below this bandwidth", ofBandwidth},
	{getoptFlag{"gid-index", 'x', true}, "INDEX", "default: the best towards the other side", nil},
	{getoptFlag{"limit_msgrate", 'y', true}, "RATE", "exit with 1 below this rate of messages", ofBandwidth},
	{getoptFlag{"output", optOutput, true}, "WHAT", "print one figure: bandwidth, message_rate or latency", nil},
	{getoptFlag{"pkey_index", optPKeyIndex, true}, "INDEX", "P_Key", nil},
	{getoptFlag{"report_gbits", optGbits, false}, "", "Gb/s, not MiB/s", ofBandwidth},
	{getoptFlag{"retry_count", optRetry, true}, "N", "times that a packet is sent again (default 7)", nil},
	{getoptFlag{"tclass", optTClass, true}, "CLASS", "traffic class", nil},
}

// options are those that the program has.
func (c *classicPerf) options() []perftestOption {
	return slices.DeleteFunc(slices.Clone(perftestOptions), func(o perftestOption) bool {
		return o.has != nil && !o.has(c.test.Order)
	})
}

// usage prints what the program takes.
func (c *classicPerf) usage() {
	fmt.Fprintf(c.out, "Usage:\n  %s            start a server and wait for a client\n  %s <host>     be the client of one\n\nOptions:\n", c.name, c.name)
	for _, o := range c.options() {
		name := "    --" + o.long
		if o.short < firstLong {
			name = fmt.Sprintf("-%c, --%s", o.short, o.long)
		}
		if o.argument != "" {
			name += "=" + o.argument
		}
		fmt.Fprintf(c.out, "  %-27s  %s\n", name, o.help)
	}
}

// takeNamed takes one option. What is wrong with it is said with its name.
func (c *classicPerf) takeNamed(short byte, value string) error {
	err := c.take(short, value)
	if err == nil || errors.Is(err, errShown) {
		return err
	}
	for _, o := range perftestOptions {
		if o.short == short && short < firstLong {
			return fmt.Errorf("-%c, --%s: %w", short, o.long, err)
		}
		if o.short == short {
			return fmt.Errorf("--%s: %w", o.long, err)
		}
	}
	return err
}

// take takes one option.
func (c *classicPerf) take(short byte, value string) error {
	t := &c.test
	number := func(to *int, what string, least, most int) error {
		n, err := perftestNumber(what, value, least, most)
		*to = n
		return err
	}
	small := func(to *uint8, what string, most int) error {
		n, err := perftestNumber(what, value, 0, most)
		*to = uint8(n)
		return err
	}
	var n int
	var err error
	switch short {
	case 'a':
		t.All = true
	case 'A':
		if value != "CMP_AND_SWAP" && value != "FETCH_AND_ADD" {
			return fmt.Errorf("invalid atomic type %q: it is CMP_AND_SWAP or FETCH_AND_ADD", value)
		}
		t.CompareSwap = value == "CMP_AND_SWAP"
	case 'b':
		t.Bidirectional = true
	case 'c':
		t.Type, err = perftestType(value)
	case 'd':
		c.device = value
	case 'D':
		err = number(&n, "duration", 1, math.MaxInt32)
		t.Timed, t.Duration = true, time.Duration(n)*time.Second
	case 'e':
		t.Events = true
	case 'f':
		err = number(&n, "margin", 0, math.MaxInt32)
		t.Margin = time.Duration(n) * time.Second
	case 'F': // there is no such warning
	case 'h':
		c.usage()
		return errShown
	case 'i':
		err = small(&c.port, "port", 255)
	case 'I':
		err = number(&t.Inline, "inline size", 0, 1024)
	case 'l':
		err = number(&t.List, "post list", 1, 1024)
	case 'm':
		err = number(&n, "MTU", 256, 4096)
		for mtu := verbs.MTU(1); mtu <= 5; mtu++ {
			if mtu.Bytes() == n {
				t.MTU = mtu
			}
		}
		if err == nil && t.MTU == 0 {
			err = fmt.Errorf("invalid MTU %d: it is 256, 512, 1024, 2048 or 4096", n)
		}
	case 'n':
		err = number(&t.Iterations, "number of iterations", 5, math.MaxInt32)
	case 'N':
		c.noPeak = true
	case 'o':
		err = number(&t.OutReads, "number of reads under way", 1, 128)
	case 'p':
		err = number(&n, "TCP port", 1, math.MaxUint16)
		c.tcp = uint16(n)
	case 'q':
		err = number(&t.QueuePairs, "number of queue pairs", 1, 16384)
	case 'Q':
		err = number(&t.Moderation, "CQ moderation", 1, 1024)
	case 'r':
		err = number(&t.RxDepth, "rx depth", 1, 16384)
	case 's':
		err = number(&n, "size", 1, math.MaxInt32)
		t.Sizes = []int{n}
	case 'S':
		err = small(&t.SL, "service level", 15)
	case 't':
		err = number(&t.TxDepth, "tx depth", 1, 15000)
	case 'u':
		err = small(&t.Timeout, "time-out", 31)
	case 'V':
		fmt.Fprintf(c.out, "Version: %s (ibkit %s)\n", perftest.Version, version())
		return errShown
	default:
		return c.takeLong(short, value, small)
	}
	return err
}

// takeLong takes options that have no letter, and those about figures.
func (c *classicPerf) takeLong(short byte, value string, small func(*uint8, string, int) error) error {
	t := &c.test
	var err error
	switch short {
	case 'w', 'y':
		limit := &c.minRate
		if short == 'y' {
			limit = &c.minMsgs
		}
		if *limit, err = strconv.ParseFloat(value, 64); err != nil || !(*limit > 0) {
			err = fmt.Errorf("invalid limit %q", value)
		}
	case 'x':
		c.gidIndex, err = perftestNumber("GID index", value, 0, 255)
	case optGbits:
		c.test.Gbits = true
	case optOutput:
		switch {
		case t.Bandwidth && value != "bandwidth" && value != "message_rate":
			return fmt.Errorf("invalid output %q: it is bandwidth or message_rate", value)
		case !t.Bandwidth && value != "latency":
			return fmt.Errorf("invalid output %q: it is latency", value)
		}
		c.output = value
	case optTClass:
		err = small(&t.TrafficClass, "traffic class", 255)
	case optPKeyIndex:
		n := 0
		n, err = perftestNumber("P_Key index", value, 0, math.MaxUint16)
		t.PKeyIndex = uint16(n)
	case optRetry:
		err = small(&t.RetryCount, "retry count", 7)
	}
	return err
}
