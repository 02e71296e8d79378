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
	fmt.Fprintf(&b, "Usage:\n  %s            start a server and wait for a client\n  %s <host>     be the client of one\n\nOptions:\n", t.Name, t.Name)
	for _, o := range t.Options {
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

// options returns the options of the program. ibkit rejects the other options of
// perftest: a test must not differ from its command line.
func (c *command) options() []getopt.Option {
	t, order := &c.test, c.test.Order
	const all = true
	sends, atomics := order.Verb == perftest.Send, order.Verb == perftest.Atomic
	responses := atomics || order.Verb == perftest.Read
	var list []getopt.Option
	for _, o := range []struct {
		has bool
		getopt.Option
	}{
		{!atomics, getopt.Option{Long: "all", Short: 'a', Help: "sizes from 2 to 2^23", Set: getopt.True(&t.All)}},
		{atomics, getopt.Option{Long: "atomic_type", Short: 'A', Arg: "TYPE", Help: "CMP_AND_SWAP or FETCH_AND_ADD (default)", Set: c.setAtomicType}},
		{order.Bandwidth, getopt.Option{Long: "bidirectional", Short: 'b', Help: "both sides send", Set: getopt.True(&t.Bidirectional)}},
		{all, getopt.Option{Long: "connection", Short: 'c', Arg: "TYPE", Help: "RC (default), UC or UD", Set: c.setConnection}},
		{all, getopt.Option{Long: "ib-dev", Short: 'd', Arg: "DEVICE", Help: "default: the one with the best GID towards the other side", Set: getopt.Text(&c.device), Complete: cmdutil.DeviceNames}},
		{all, getopt.Option{Long: "duration", Short: 'D', Arg: "SECONDS", Help: "measure for a time", Set: func(value string) error {
			t.Timed = true
			return seconds(&t.Duration, 1)(value)
		}}},
		{sends, getopt.Option{Long: "events", Short: 'e', Help: "wait for completion events", Set: getopt.True(&t.Events)}},
		{all, getopt.Option{Long: "margin", Short: 'f', Arg: "SECONDS", Help: "what does not count at either end of -D (default 2)", Set: seconds(&t.Margin, 0)}},
		{all, getopt.Option{Long: "CPU-freq", Short: 'F', Help: "no warning of the processor's frequency; there is none, as it is not used", Set: getopt.Ignore}},
		{all, getopt.Option{Long: "help", Short: 'h', Help: "show this", Set: getopt.Usage}},
		{all, getopt.Option{Long: "ib-port", Short: 'i', Arg: "PORT", Help: "default: the first active one", Set: number(&c.port, 0, 255)}},
		{sends || order.Verb == perftest.Write, getopt.Option{Long: "inline_size", Short: 'I', Arg: "BYTES", Help: "data of messages up to this size is in the work request", Set: number(&t.Inline, 0, 1024)}},
		{order.Bandwidth, getopt.Option{Long: "post_list", Short: 'l', Arg: "N", Help: "post N messages at a time", Set: number(&t.List, 1, 1024)}},
		{all, getopt.Option{Long: "mtu", Short: 'm', Arg: "BYTES", Help: "default: the port's", Set: c.setMTU}},
		{all, getopt.Option{Long: "iters", Short: 'n', Arg: "N", Help: "messages, at least 5 (default 1000, of ib_write_bw 5000)", Set: number(&t.Iterations, 5, math.MaxInt32)}},
		{order.Bandwidth, getopt.Option{Long: "noPeak", Short: 'N', Help: "no peak bandwidth", Set: getopt.True(&c.noPeak)}},
		{responses, getopt.Option{Long: "outs", Short: 'o', Arg: "N", Help: "operations under way (default: as many as the device does)", Set: number(&t.OutReads, 1, 128)}},
		{all, getopt.Option{Long: "port", Short: 'p', Arg: "PORT", Help: "TCP port (default 18515)", Set: number(&c.tcp, 1, math.MaxUint16)}},
		{order.Bandwidth, getopt.Option{Long: "qp", Short: 'q', Arg: "N", Help: "queue pairs", Set: number(&t.QueuePairs, 1, 16384)}},
		{order.Bandwidth, getopt.Option{Long: "cq-mod", Short: 'Q', Arg: "N", Help: "a completion of every Nth message (default 100)", Set: number(&t.Moderation, 1, 1024)}},
		{sends, getopt.Option{Long: "rx-depth", Short: 'r', Arg: "N", Help: "receives posted (default 512)", Set: number(&t.RxDepth, 1, 16384)}},
		{!atomics, getopt.Option{Long: "size", Short: 's', Arg: "BYTES", Help: "of a message (default 2, of bandwidth 65536)", Set: func(value string) error {
			t.Sizes = []int{0}
			return number(&t.Sizes[0], 1, math.MaxInt32)(value)
		}}},
		{all, getopt.Option{Long: "sl", Short: 'S', Arg: "SL", Help: "service level", Set: number(&t.SL, 0, 15)}},
		{order.Bandwidth, getopt.Option{Long: "tx-depth", Short: 't', Arg: "N", Help: "messages under way (default 128)", Set: number(&t.TxDepth, 1, 15000)}},
		{all, getopt.Option{Long: "qp-timeout", Short: 'u', Arg: "N", Help: "4.096 us * 2^N (default 14)", Set: number(&t.Timeout, 0, 31)}},
		{all, getopt.Option{Long: "version", Short: 'V', Help: "show the version", Set: c.showVersion}},
		{order.Bandwidth, getopt.Option{Long: "limit_bw", Short: 'w', Arg: "RATE", Help: "exit with 1 below this bandwidth", Set: limit(&c.minRate)}},
		{all, getopt.Option{Long: "gid-index", Short: 'x', Arg: "INDEX", Help: "default: the best towards the other side", Set: number(&c.gidIndex, 0, 255)}},
		{order.Bandwidth, getopt.Option{Long: "limit_msgrate", Short: 'y', Arg: "RATE", Help: "exit with 1 below this rate of messages", Set: limit(&c.minMsgs)}},
		{all, getopt.Option{Long: "output", Arg: "WHAT", Help: "print one figure: bandwidth, message_rate or latency", Set: c.setOutput}},
		{all, getopt.Option{Long: "pkey_index", Arg: "INDEX", Help: "P_Key", Set: number(&t.PKeyIndex, 0, math.MaxUint16)}},
		{order.Bandwidth, getopt.Option{Long: "report_gbits", Help: "Gb/s, not MiB/s", Set: getopt.True(&t.Gbits)}},
		{all, getopt.Option{Long: "retry_count", Arg: "N", Help: "times that a packet is sent again (default 7)", Set: number(&t.RetryCount, 0, 7)}},
		{all, getopt.Option{Long: "tclass", Arg: "CLASS", Help: "traffic class", Set: number(&t.TrafficClass, 0, 255)}},
	} {
		if o.has {
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
	for mtu := ib.MTU(1); mtu <= 5; mtu++ {
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
