package perftest

import (
	"fmt"
	"io"
	"strconv"

	"github.com/ibkit/ibkit/internal/sysfs"
)

// A counter is a -W counter with its last value.
type counter struct {
	name  string
	value uint64
}

// readCounters reads port counters and returns their increments.
func (c *command) readCounters() ([]uint64, error) {
	if len(c.counters) == 0 {
		return nil, nil
	}
	var problems []error
	dir := sysfs.Default.Dir(&problems, "class/infiniband", c.localDevice).Sub("ports").Sub(strconv.Itoa(int(c.localPort)))
	var changes []uint64
	for i := range c.counters {
		counter := &c.counters[i]
		v := dir.Uint(counter.name, 64)
		if v == nil && problems != nil {
			return nil, fmt.Errorf("read counter %s of %s port %d: %w", counter.name, c.localDevice, c.localPort, problems[0])
		}
		if v == nil {
			return nil, fmt.Errorf("read counter %s of %s port %d: the kernel has no such counter", counter.name, c.localDevice, c.localPort)
		}
		changes = append(changes, *v-counter.value)
		counter.value = *v
	}
	return changes, nil
}

// printCounters prints the changes since the last call, or since the start.
func (c *command) printCounters(out io.Writer) {
	changes, err := c.readCounters()
	if err != nil {
		c.fail(err)
	}
	for i, n := range changes {
		fmt.Fprintf(out, "\t%s=%d\n", c.counters[i].name, n)
	}
	if len(changes) > 0 {
		fmt.Fprintln(out)
	}
}
