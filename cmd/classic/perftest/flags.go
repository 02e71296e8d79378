package perftest

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/getopt"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

// family is the family of perftest's programs: they exit with 1 in all cases, after
// the usage text, too.
var family = &getopt.Family{
	Usage: usage, UsageToOut: true, NoUsageForInvalid: true, UsageCode: cmdutil.ExitFailed, FailureCode: cmdutil.ExitFailed,
}

func usage(t *getopt.Tool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s            start a server and wait for a client\n  %s <host>     be the client of a server\n\nOptions:\n", t.Name, t.Name)
	for _, o := range t.Options {
		if o.Unlisted {
			continue
		}
		name := "    --" + o.Long
		if o.Short != 0 {
			name = fmt.Sprintf("-%c, --%s", o.Short, o.Long)
		}
		if o.Arg != "" {
			name += "=" + o.Arg
		}
		fmt.Fprintf(&b, "  %-27s  %s\n", name, o.Help)
	}
	return b.String()
}

// A listing is the way in which a program supports an option.
type listing int

const (
	rejected listing = iota
	listed
	unlisted // accepted, but not in the usage text
)

// when returns listed if a condition is true, and otherwise rejected.
func when(condition bool) listing {
	if condition {
		return listed
	}
	return rejected
}

// options returns the options of the program. It rejects the options of perftest that
// are not implemented, because a test must not differ from its command line.
func (c *command) options() []getopt.Option {
	t, order := &c.test, c.test.Order
	sends, writes, atomics := order.Verb == perftest.Send, order.Verb == perftest.Write, order.Verb == perftest.Atomic
	responses := atomics || order.Verb == perftest.Read
	// Latency programs accept the options of bandwidth programs that have no effect.
	bandwidth := unlisted
	if order.Bandwidth {
		bandwidth = listed
	}
	var list []getopt.Option
	for _, o := range []struct {
		listing
		getopt.Option
	}{
		{when(!atomics), getopt.Option{Long: "all", Short: 'a', Help: "sizes from 2 to 2^23", Set: getopt.True(&t.All)}},
		{when(atomics), getopt.Option{Long: "atomic_type", Short: 'A', Arg: "TYPE", Help: "CMP_AND_SWAP or FETCH_AND_ADD (default)", Set: c.setAtomicType}},
		{when(order.Bandwidth), getopt.Option{Long: "bidirectional", Short: 'b', Help: "send in both directions", Set: getopt.True(&t.Bidirectional)}},
		{listed, getopt.Option{Long: "connection", Short: 'c', Arg: "TYPE", Help: "RC (default), UC or UD", Set: c.setConnection}},
		{listed, getopt.Option{Long: "ib-dev", Short: 'd', Arg: "DEVICE", Help: "local device (default: the one of the route to the peer)", Set: getopt.Text(&c.device), Complete: cmdutil.DeviceNames}},
		{listed, getopt.Option{Long: "duration", Short: 'D', Arg: "SECONDS", Help: "measure for a time", Set: func(value string) error {
			t.Timed = true
			return seconds(&t.Duration, 1)(value)
		}}},
		{when(!writes), getopt.Option{Long: "events", Short: 'e', Help: "wait for completion events instead of polling", Set: getopt.True(&t.Events)}},
		{listed, getopt.Option{Long: "margin", Short: 'f', Arg: "SECONDS", Help: "uncounted time at each end of -D (default: a quarter of it)", Set: func(value string) error {
			c.marginGiven = true
			return seconds(&t.Margin, 0)(value)
		}}},
		{listed, getopt.Option{Long: "CPU-freq", Short: 'F', Help: "no effect: the frequency of the processor is not used", Set: getopt.Ignore}},
		{listed, getopt.Option{Long: "help", Short: 'h', Help: "show this text", Set: getopt.Usage}},
		{listed, getopt.Option{Long: "ib-port", Short: 'i', Arg: "PORT", Help: "port of the device (default: the first active one)", Set: number(&c.port, 1, 255)}},
		{when(sends || writes), getopt.Option{Long: "inline_size", Short: 'I', Arg: "BYTES", Help: "maximum size of inline messages", Set: number(&t.Inline, 0, 1024)}},
		{when(order.Bandwidth), getopt.Option{Long: "post_list", Short: 'l', Arg: "N", Help: "post N messages at a time", Set: number(&t.List, 1, 1024)}},
		{listed, getopt.Option{Long: "mtu", Short: 'm', Arg: "BYTES", Help: "size of a packet (default: the MTU of the port)", Set: c.setMTU}},
		{listed, getopt.Option{Long: "iters", Short: 'n', Arg: "N", Help: "number of messages, at least 5 (default 1000, ib_write_bw 5000)", Set: number(&t.Iterations, 5, math.MaxInt32)}},
		{when(order.Bandwidth), getopt.Option{Long: "noPeak", Short: 'N', Help: "no peak bandwidth", Set: getopt.True(&c.noPeak)}},
		{when(responses), getopt.Option{Long: "outs", Short: 'o', Arg: "N", Help: "operations in flight (default: the maximum of the device)", Set: number(&t.OutReads, 1, 128)}},
		{listed, getopt.Option{Long: "port", Short: 'p', Arg: "PORT", Help: "TCP port (default 18515)", Set: number(&c.tcp, 1, math.MaxUint16)}},
		{when(order.Bandwidth), getopt.Option{Long: "qp", Short: 'q', Arg: "N", Help: "number of queue pairs (default 1)", Set: number(&t.QueuePairs, 1, 16384)}},
		{bandwidth, getopt.Option{Long: "cq-mod", Short: 'Q', Arg: "N", Help: "messages per completion (default 100)", Set: number(&t.Moderation, 1, 1024)}},
		{when(sends), getopt.Option{Long: "rx-depth", Short: 'r', Arg: "N", Help: "number of posted receives (default 512)", Set: number(&t.RxDepth, 1, 16384)}},
		{when(!atomics), getopt.Option{Long: "size", Short: 's', Arg: "BYTES", Help: "size of a message, with K or M (default 2, bandwidth 65536)", Set: c.setSize}},
		{listed, getopt.Option{Long: "sl", Short: 'S', Arg: "SL", Help: "service level", Set: number(&t.SL, 0, 15)}},
		{bandwidth, getopt.Option{Long: "tx-depth", Short: 't', Arg: "N", Help: "messages in flight (default 128)", Set: number(&t.TxDepth, 1, 15000)}},
		{listed, getopt.Option{Long: "qp-timeout", Short: 'u', Arg: "N", Help: "timeout of 4.096 us * 2^N (default 14)", Set: number(&t.Timeout, 0, 31)}},
		{listed, getopt.Option{Long: "version", Short: 'V', Help: "show the version", Set: c.showVersion}},
		{bandwidth, getopt.Option{Long: "limit_bw", Short: 'w', Arg: "RATE", Help: "exit with 1 below this bandwidth", Set: limit(&c.minRate)}},
		{listed, getopt.Option{Long: "gid-index", Short: 'x', Arg: "INDEX", Help: "local GID (default: the one of the route to the peer)", Set: number(&c.gidIndex, 0, 255)}},
		{bandwidth, getopt.Option{Long: "limit_msgrate", Short: 'y', Arg: "RATE", Help: "exit with 1 below this message rate", Set: limit(&c.minMsgs)}},
		{listed, getopt.Option{Long: "output", Arg: "FIGURE", Help: "print only bandwidth, message_rate or latency", Set: c.setOutput}},
		{listed, getopt.Option{Long: "pkey_index", Arg: "INDEX", Help: "index of the P_Key", Set: number(&t.PKeyIndex, 0, math.MaxUint16)}},
		{bandwidth, getopt.Option{Long: "report_gbits", Help: "print Gb/s instead of MiB/s", Set: getopt.True(&t.Gbits)}},
		{listed, getopt.Option{Long: "retry_count", Arg: "N", Help: "number of retransmissions (default 7)", Set: number(&t.RetryCount, 0, 7)}},
		{listed, getopt.Option{Long: "tclass", Arg: "CLASS", Help: "traffic class", Set: number(&t.TrafficClass, 0, 255)}},
	} {
		if o.listing != rejected {
			if o.listing == unlisted {
				o.Unlisted, o.Help = true, "no effect"
			}
			list = append(list, o.Option)
		}
	}
	return list
}

// number returns a Set for a number within bounds.
func number[T int | uint8 | uint16](to *T, least, most int64) func(string) error {
	return func(value string) error {
		n, err := strconv.ParseInt(value, 0, 64)
		if err != nil || n < least || n > most {
			return fmt.Errorf("invalid value %q: want a number from %d to %d", value, least, most)
		}
		*to = T(n)
		return nil
	}
}

// seconds returns a Set for a time in whole seconds.
func seconds(to *time.Duration, least int64) func(string) error {
	return func(value string) error {
		n := 0
		err := number(&n, least, math.MaxInt32)(value)
		*to = time.Duration(n) * time.Second
		return err
	}
}

// limit returns a Set for a lower limit of a rate.
func limit(to *float64) func(string) error {
	return func(value string) (err error) {
		if *to, err = strconv.ParseFloat(value, 64); err != nil || !(*to > 0) {
			return fmt.Errorf("invalid value %q: want a positive number", value)
		}
		return nil
	}
}

// setSize sets the size of messages, with an optional suffix K or M.
func (c *command) setSize(value string) error {
	digits, factor := value, 1
	switch {
	case strings.HasSuffix(value, "K"):
		digits, factor = strings.TrimSuffix(value, "K"), 1<<10
	case strings.HasSuffix(value, "M"):
		digits, factor = strings.TrimSuffix(value, "M"), 1<<20
	}
	n := 0
	if number(&n, 1, math.MaxInt32/int64(factor))(digits) != nil {
		return fmt.Errorf("invalid value %q: want 1 to %d bytes such as 64, 64K or 1M", value, math.MaxInt32)
	}
	c.test.Sizes, c.test.SizeGiven = []int{n * factor}, true
	return nil
}

func (c *command) setAtomicType(value string) error {
	if value != "CMP_AND_SWAP" && value != "FETCH_AND_ADD" {
		return fmt.Errorf("invalid value %q: want CMP_AND_SWAP or FETCH_AND_ADD", value)
	}
	c.test.CompareSwap = value == "CMP_AND_SWAP"
	return nil
}

func (c *command) setConnection(value string) error {
	for _, t := range []verbs.QPType{verbs.QPTypeRC, verbs.QPTypeUC, verbs.QPTypeUD} {
		if strings.EqualFold(t.String(), value) {
			c.test.Type = t
			return nil
		}
	}
	return fmt.Errorf("invalid value %q: want RC, UC or UD", value)
}

func (c *command) setMTU(value string) error {
	for mtu := ib.MTU256; mtu <= ib.MTU4096; mtu++ {
		if strconv.Itoa(mtu.Bytes()) == value {
			c.test.MTU = mtu
			return nil
		}
	}
	return fmt.Errorf("invalid value %q: want 256, 512, 1024, 2048 or 4096", value)
}

func (c *command) setOutput(value string) error {
	switch {
	case c.test.Bandwidth && value != "bandwidth" && value != "message_rate":
		return fmt.Errorf("invalid value %q: want bandwidth or message_rate", value)
	case !c.test.Bandwidth && value != "latency":
		return fmt.Errorf("invalid value %q: want latency", value)
	}
	c.output = value
	return nil
}

func (c *command) showVersion(string) error {
	fmt.Fprintf(c.out, "Version: %s (ibkit %s)\n", perftest.Version, buildinfo.Version())
	return errors.Join(c.out.Flush(), &cmdutil.ExitError{Code: cmdutil.ExitFailed})
}
