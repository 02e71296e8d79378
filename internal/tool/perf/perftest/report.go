package perftest

import (
	"encoding/binary"
	"math"
)

// A Report holds the figures that a side of a bandwidth test sends to its peer. Their
// unit is not part of the protocol: MiB/s, or Gb/s with --report_gbits.
type Report struct {
	Size       uint64 // bytes of a message
	Iterations uint64 // messages of all queue pairs
	Peak       float64
	Average    float64
	MsgRate    float64 // millions of messages per second
}

// exchangeReports exchanges figures. A server that only receives sends zeros.
func (c *conn) exchangeReports(local Report) (Report, error) {
	numbers := []uint64{
		local.Size, local.Iterations, math.Float64bits(local.Peak), math.Float64bits(local.Average), math.Float64bits(local.MsgRate),
	}
	for i, v := range numbers {
		b := binary.BigEndian.AppendUint64(nil, v)
		if err := c.exchange("figures", b); err != nil {
			return Report{}, err
		}
		numbers[i] = binary.BigEndian.Uint64(b)
	}
	return Report{
		Size: numbers[0], Iterations: numbers[1], Peak: math.Float64frombits(numbers[2]),
		Average: math.Float64frombits(numbers[3]), MsgRate: math.Float64frombits(numbers[4]),
	}, nil
}
