package perftest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/perf/perftest"
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

// A option is an option of the programs, and which of them have it.
type option struct {
	getopt.Option
	argument, help string
	has            func(perftest.Order) bool // nil: all
}

func ofBandwidth(o perftest.Order) bool { return o.Bandwidth }

func ofSends(o perftest.Order) bool { return o.Verb == perftest.Send }

func ofAtomics(o perftest.Order) bool { return o.Verb == perftest.Atomic }

func ofAnySize(o perftest.Order) bool { return o.Verb != perftest.Atomic }

func ofPayloads(o perftest.Order) bool { return o.Verb == perftest.Send || o.Verb == perftest.Write }

func ofResponses(o perftest.Order) bool { return o.Verb == perftest.Read || o.Verb == perftest.Atomic }

// allOptions are the options that ibkit has of perftest's. Any other is
// refused: what the other side was told must not be passed over.
var allOptions = []option{
	{getopt.Option{Long: "all", Short: 'a', HasValue: false}, "", "sizes from 2 to 2^23", ofAnySize},
	{getopt.Option{Long: "atomic_type", Short: 'A', HasValue: true}, "TYPE", "CMP_AND_SWAP or FETCH_AND_ADD (default)", ofAtomics},
	{getopt.Option{Long: "bidirectional", Short: 'b', HasValue: false}, "", "both sides send", ofBandwidth},
	{getopt.Option{Long: "connection", Short: 'c', HasValue: true}, "TYPE", "RC (default), UC or UD", nil},
	{getopt.Option{Long: "ib-dev", Short: 'd', HasValue: true}, "DEVICE", "default: the one with the best GID towards the other side", nil},
	{getopt.Option{Long: "duration", Short: 'D', HasValue: true}, "SECONDS", "measure for a time", nil},
	{getopt.Option{Long: "events", Short: 'e', HasValue: false}, "", "wait for completion events", ofSends},
	{getopt.Option{Long: "margin", Short: 'f', HasValue: true}, "SECONDS", "what does not count at either end of -D (default 2)", nil},
	{getopt.Option{Long: "CPU-freq", Short: 'F', HasValue: false}, "", "no warning of the processor's frequency; there is none, as it is not used", nil},
	{getopt.Option{Long: "help", Short: 'h', HasValue: false}, "", "show this", nil},
	{getopt.Option{Long: "ib-port", Short: 'i', HasValue: true}, "PORT", "default: the first active one", nil},
	{getopt.Option{Long: "inline_size", Short: 'I', HasValue: true}, "BYTES", "data of messages up to this size is in the work request", ofPayloads},
	{getopt.Option{Long: "post_list", Short: 'l', HasValue: true}, "N", "post N messages at a time", ofBandwidth},
	{getopt.Option{Long: "mtu", Short: 'm', HasValue: true}, "BYTES", "default: the port's", nil},
	{getopt.Option{Long: "iters", Short: 'n', HasValue: true}, "N", "messages, at least 5 (default 1000, of ib_write_bw 5000)", nil},
	{getopt.Option{Long: "noPeak", Short: 'N', HasValue: false}, "", "no peak bandwidth", ofBandwidth},
	{getopt.Option{Long: "outs", Short: 'o', HasValue: true}, "N", "operations under way (default: as many as the device does)", ofResponses},
	{getopt.Option{Long: "port", Short: 'p', HasValue: true}, "PORT", "TCP port (default 18515)", nil},
	{getopt.Option{Long: "qp", Short: 'q', HasValue: true}, "N", "queue pairs", ofBandwidth},
	{getopt.Option{Long: "cq-mod", Short: 'Q', HasValue: true}, "N", "a completion of every Nth message (default 100)", ofBandwidth},
	{getopt.Option{Long: "rx-depth", Short: 'r', HasValue: true}, "N", "receives posted (default 512)", ofSends},
	{getopt.Option{Long: "size", Short: 's', HasValue: true}, "BYTES", "of a message (default 2, of bandwidth 65536)", ofAnySize},
	{getopt.Option{Long: "sl", Short: 'S', HasValue: true}, "SL", "service level", nil},
	{getopt.Option{Long: "tx-depth", Short: 't', HasValue: true}, "N", "messages under way (default 128)", ofBandwidth},
	{getopt.Option{Long: "qp-timeout", Short: 'u', HasValue: true}, "N", "4.096 us * 2^N (default 14)", nil},
	{getopt.Option{Long: "version", Short: 'V', HasValue: false}, "", "show the version", nil},
	{getopt.Option{Long: "limit_bw", Short: 'w', HasValue: true}, "RATE", "exit with 1 below this bandwidth", ofBandwidth},
	{getopt.Option{Long: "gid-index", Short: 'x', HasValue: true}, "INDEX", "default: the best towards the other side", nil},
	{getopt.Option{Long: "limit_msgrate", Short: 'y', HasValue: true}, "RATE", "exit with 1 below this rate of messages", ofBandwidth},
	{getopt.Option{Long: "output", Short: optOutput, HasValue: true}, "WHAT", "print one figure: bandwidth, message_rate or latency", nil},
	{getopt.Option{Long: "pkey_index", Short: optPKeyIndex, HasValue: true}, "INDEX", "P_Key", nil},
	{getopt.Option{Long: "report_gbits", Short: optGbits, HasValue: false}, "", "Gb/s, not MiB/s", ofBandwidth},
	{getopt.Option{Long: "retry_count", Short: optRetry, HasValue: true}, "N", "times that a packet is sent again (default 7)", nil},
	{getopt.Option{Long: "tclass", Short: optTClass, HasValue: true}, "CLASS", "traffic class", nil},
}

// options are those that the program has.
func (c *command) options() []option {
	return slices.DeleteFunc(slices.Clone(allOptions), func(o option) bool {
		return o.has != nil && !o.has(c.test.Order)
	})
}

// usage prints what the program takes.
func (c *command) usage() {
	fmt.Fprintf(c.out, "Usage:\n  %s            start a server and wait for a client\n  %s <host>     be the client of one\n\nOptions:\n", c.name, c.name)
	for _, o := range c.options() {
		name := "    --" + o.Long
		if o.Short < firstLong {
			name = fmt.Sprintf("-%c, --%s", o.Short, o.Long)
		}
		if o.argument != "" {
			name += "=" + o.argument
		}
		fmt.Fprintf(c.out, "  %-27s  %s\n", name, o.help)
	}
}

// takeNamed takes one option. What is wrong with it is said with its name.
func (c *command) takeNamed(short byte, value string) error {
	err := c.take(short, value)
	if err == nil || errors.Is(err, errShown) {
		return err
	}
	for _, o := range allOptions {
		if o.Short == short && short < firstLong {
			return fmt.Errorf("-%c, --%s: %w", short, o.Long, err)
		}
		if o.Short == short {
			return fmt.Errorf("--%s: %w", o.Long, err)
		}
	}
	return err
}

// take takes one option.
func (c *command) take(short byte, value string) error {
	t := &c.test
	number := func(to *int, what string, least, most int) error {
		n, err := parseNumber(what, value, least, most)
		*to = n
		return err
	}
	small := func(to *uint8, what string, most int) error {
		n, err := parseNumber(what, value, 0, most)
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
		t.Type, err = parseType(value)
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
		for mtu := ib.MTU256; mtu <= ib.MTU4096; mtu++ {
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
		fmt.Fprintf(c.out, "Version: %s (ibkit %s)\n", perftest.Version, buildinfo.Version())
		return errShown
	default:
		return c.takeLong(short, value, small)
	}
	return err
}

// takeLong takes options that have no letter, and those about figures.
func (c *command) takeLong(short byte, value string, small func(*uint8, string, int) error) error {
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
		c.gidIndex, err = parseNumber("GID index", value, 0, 255)
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
		n, err = parseNumber("P_Key index", value, 0, math.MaxUint16)
		t.PKeyIndex = uint16(n)
	case optRetry:
		err = small(&t.RetryCount, "retry count", 7)
	}
	return err
}
