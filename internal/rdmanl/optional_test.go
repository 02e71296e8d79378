package rdmanl

import (
	"maps"
	"slices"
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

// SetOptionalCounters sends the counters by their numbers in the kernel's list.
func TestSetOptionalCounters(t *testing.T) {
	var sent netlink.Message
	c := Conn{nltest.Dial(func(requests []netlink.Message) ([]netlink.Message, error) {
		sent = requests[0]
		header := netlink.Header{Sequence: sent.Header.Sequence, PID: sent.Header.PID}
		if uint16(sent.Header.Type) == uint16(nldev<<10|cmdStatSet) {
			header.Type = netlink.Error
			return []netlink.Message{{Header: header, Data: make([]byte, 4)}}, nil
		}
		e := netlink.NewAttributeEncoder()
		e.Nested(attrStatHWCounters, func(e *netlink.AttributeEncoder) error {
			for i, name := range []string{"cc_rx_ce_pkts", "cc_rx_cnp_pkts", "cc_tx_cnp_pkts"} {
				e.Nested(attrStatHWCounter, func(e *netlink.AttributeEncoder) error {
					e.String(attrStatHWName, name)
					e.Uint32(attrStatHWIndex, uint32(20+i))
					e.Uint8(attrStatHWDynamic, 0)
					return nil
				})
			}
			return nil
		})
		data, err := e.Encode()
		return []netlink.Message{{Header: header, Data: data}}, err
	})}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetOptionalCounters(3, 1, []string{"cc_tx_cnp_pkts", "cc_rx_ce_pkts"}); err != nil {
		t.Fatal(err)
	}
	var indexes []uint32
	if err := parse(sent.Data, func(ad *netlink.AttributeDecoder) {
		if ad.Type() == attrStatHWCounters {
			ad.Nested(func(ad *netlink.AttributeDecoder) error {
				for ad.Next() {
					if ad.Type() == attrStatHWIndex {
						indexes = append(indexes, ad.Uint32())
					}
				}
				return nil
			})
		}
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(indexes, []uint32{22, 20}) {
		t.Errorf("got counters %v, want 22 and 20", indexes)
	}
	if err := c.SetOptionalCounters(3, 1, []string{"rx_bytes"}); err == nil || uint16(sent.Header.Type) == uint16(nldev<<10|cmdStatSet) {
		t.Errorf("unknown counter: got error %v, request %#x", err, sent.Header.Type)
	}
}
