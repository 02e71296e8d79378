package perftest

import (
	"encoding/binary"
	"math"
)

// A Report is a side's figures of a bandwidth test. The programs do not say in
// which unit: MiB/s, or Gb/s with --report_gbits.
type Report struct {
	Size       uint64 // bytes of a message
	Iterations uint64
	Peak       float64
	Average    float64
	MsgRate    float64 // millions of messages per second
}

// ExchangeReports tells this side's figures and returns the other side's. A server
// that only served sends zeros.
func (c *Conn) ExchangeReports(local Report) (Report, error) {
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
