package perftest

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/ibkit/ibkit/cmd/internal/buildinfo"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/perf/host"
	"github.com/ibkit/ibkit/internal/tool/perf/memory"
	"github.com/ibkit/ibkit/internal/tool/perf/perftest"
	"github.com/ibkit/ibkit/verbs"
)

// number returns a Set for a number within bounds.
func number[T ~int | ~uint8 | ~uint16](to *T, least, most int64) func(string) error {
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
	return duration(to, time.Second, least)
}

// setGap sets the pause before each message: 0 in bandwidth tests.
func (c *command) setGap(value string) error {
	if c.test.Bandwidth {
		return number(new(int), 0, 0)(value)
	}
	return duration(&c.test.Gap, time.Microsecond, 0)(value)
}

// maxList is the maximum for -l and for -t.
const maxList = 15000

// setList returns a Set for a count of work requests to post at a time: 1
// in latency tests.
func (c *command) setList(to *int, most int64) func(string) error {
	if !c.test.Bandwidth {
		return number(new(int), 1, 1)
	}
	return number(to, 1, most)
}

func duration(to *time.Duration, unit time.Duration, least int64) func(string) error {
	return func(value string) error {
		n := 0
		err := number(&n, least, math.MaxInt32)(value)
		*to = time.Duration(n) * unit
		return err
	}
}

// limit returns a Set for a lower rate limit. 0 is no limit.
func limit(to *float64) func(string) error {
	return func(value string) error {
		if n, err := strconv.ParseFloat(value, 64); err == nil && n == 0 {
			*to = 0
			return nil
		}
		return positive(to, value)
	}
}

// positive parses a positive number.
func positive(to *float64, value string) error {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !(n > 0) || math.IsInf(n, 0) {
		return fmt.Errorf("invalid value %q: want a positive number", value)
	}
	*to = n
	return nil
}

// setSize sets the message size, with an optional suffix K or M.
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
	if c.test.Verb == perftest.Atomic && n*factor != perftest.AtomicSize {
		return fmt.Errorf("invalid value %q: atomics have %d bytes", value, perftest.AtomicSize)
	}
	c.test.Sizes, c.test.SizeGiven = []int{n * factor}, true
	return nil
}

// setRxDepth sets the receive count: 1 for verbs without receives. complete checks that of
// writes, which may have immediate data.
func (c *command) setRxDepth(value string) error {
	c.rxDepthGiven = true
	if !requests(c.test.Order) {
		return number(new(int), 1, 1)(value)
	}
	return number(&c.test.RxDepth, 1, 16384)(value)
}

func (c *command) setAtomicType(value string) error {
	if value != "CMP_AND_SWAP" && value != "FETCH_AND_ADD" {
		return fmt.Errorf("invalid value %q: want CMP_AND_SWAP or FETCH_AND_ADD", value)
	}
	c.test.CompareSwap = value == "CMP_AND_SWAP"
	return nil
}

func (c *command) setConnection(value string) error {
	for _, t := range []verbs.QPType{verbs.QPTypeRC, verbs.QPTypeUC, verbs.QPTypeUD, verbs.QPTypeSRD} {
		if strings.EqualFold(t.String(), value) {
			c.test.Type = t
			return nil
		}
	}
	if strings.EqualFold("XRC", value) {
		c.test.Type = verbs.QPTypeXRCInit
		return nil
	}
	if strings.EqualFold("DC", value) {
		return errors.New("connections of type DC are not supported: want RC, UC, UD, XRC or SRD")
	}
	return fmt.Errorf("invalid value %q: want RC, UC, UD, XRC or SRD", value)
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

// setLink sets the required link layer. perftest compares the text prefix.
func (c *command) setLink(value string) error {
	for name, layer := range map[string]ib.LinkLayer{"ib": ib.LinkLayerInfiniBand, "ethernet": ib.LinkLayerEthernet} {
		if strings.HasPrefix(strings.ToLower(value), name) {
			c.link = layer.String()
			return nil
		}
	}
	return fmt.Errorf("invalid value %q: want IB or Ethernet", value)
}

// setGroup sets the -M group: its 16 octets as C numbers.
func (c *command) setGroup(value string) error {
	var gid [16]byte
	parts := strings.Split(value, ":")
	for i := range gid {
		if len(parts) != len(gid) {
			break
		}
		n, err := strconv.ParseUint(parts[i], 0, 8)
		if err != nil {
			parts = nil
			break
		}
		gid[i] = byte(n)
	}
	if len(parts) != len(gid) {
		return fmt.Errorf("invalid value %q: want 16 numbers such as 0:0:0:0:0:0:0:0:0:0:255:255:239:1:2:3", value)
	}
	c.group = netip.AddrFrom16(gid)
	return nil
}

func (c *command) setSource(value string) error {
	a, err := netip.ParseAddr(value)
	if err != nil {
		return fmt.Errorf("invalid value %q: want an IP address", value)
	}
	c.source = a.String()
	return nil
}

func (c *command) setFlowLabels(value string) error {
	c.test.FlowLabels = nil
	for part := range strings.SplitSeq(value, ",") {
		n, err := strconv.ParseUint(part, 0, 20)
		if err != nil {
			return fmt.Errorf("invalid value %q: want numbers from 0 to %d such as 1,2", value, 1<<20-1)
		}
		c.test.FlowLabels = append(c.test.FlowLabels, uint32(n))
	}
	return nil
}

func (c *command) setCPUs(value string) (err error) {
	c.cpus, err = host.ParseCPUs(strings.ReplaceAll(value, " ", ""))
	return err
}

// setCUDA selects the memory of a GPU.
func (c *command) setCUDA(gpu string) (err error) {
	if c.memory, err = memory.Parse("cuda:" + gpu); err != nil {
		return fmt.Errorf("invalid value %q: want the number or the PCI address of a GPU", gpu)
	}
	return nil
}

// setCounters sets the counters to print: files below the port directory.
func (c *command) setCounters(value string) error {
	c.counters = nil
	for name := range strings.SplitSeq(value, ",") {
		if name == "" || strings.HasPrefix(name, "/") || strings.Contains("/"+name+"/", "/../") {
			return fmt.Errorf("invalid value %q: want names such as counters/port_xmit_data,hw_counters/out_of_buffer", value)
		}
		c.counters = append(c.counters, counter{name: name})
	}
	return nil
}

func (c *command) showVersion(string) error {
	fmt.Fprintf(c.out, "Version: %s (ibkit %s)\n", perftest.Version, buildinfo.Version())
	return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: c.out.Flush()}
}
