package rdmanl

import (
	"maps"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/mdlayher/netlink/nltest"
)

// OptionalCounters returns the counters with a status, and sends device and port.
func TestOptionalCounters(t *testing.T) {
	var sent netlink.Message
	c := Conn{nltest.Dial(func(requests []netlink.Message) ([]netlink.Message, error) {
		sent = requests[0]
		e := netlink.NewAttributeEncoder()
		e.Nested(attrStatHWCounters, func(e *netlink.AttributeEncoder) error {
			for _, counter := range []struct {
				name   string
				status []byte
			}{{"out_of_sequence", nil}, {"cc_rx_ce_pkts", []byte{1}}, {"cc_tx_cnp_pkts", []byte{0}}} {
				e.Nested(attrStatHWCounter, func(e *netlink.AttributeEncoder) error {
					e.String(attrStatHWName, counter.name)
					if counter.status != nil {
						e.Bytes(attrStatHWDynamic, counter.status)
					}
					return nil
				})
			}
			return nil
		})
		data, err := e.Encode()
		return []netlink.Message{{Header: netlink.Header{Sequence: sent.Header.Sequence, PID: sent.Header.PID}, Data: data}}, err
	})}
	t.Cleanup(func() { _ = c.Close() })
	got, err := c.OptionalCounters(3, 1)
	if want := map[string]bool{"cc_rx_ce_pkts": true, "cc_tx_cnp_pkts": false}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, error %v, want %v", got, err, want)
	}
	if got, want := uint16(sent.Header.Type), uint16(nldev<<10|cmdStatStatus); got != want {
		t.Errorf("got request %#x, want %#x", got, want)
	}
}

func TestOptionalCounters_Unsupported(t *testing.T) {
	if all, err := oldKernel(t).OptionalCounters(3, 1); len(all) > 0 || err != nil {
		t.Errorf("got %v, %v, want no counter", all, err)
	}
}
