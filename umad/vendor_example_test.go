package umad_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// A Board is an attribute that package mad does not have: the device in
// NVIDIA's vendor class 0x0a.
type Board struct {
	DeviceID uint16
	Uptime   uint32 // seconds
	PSID     [16]uint8
}

// Spec returns the attribute's class, number and size.
func (*Board) Spec() mad.Spec { return mad.Spec{Class: 0x0a, ID: 0x17, Size: 72} }

// Layout declares the fields for the encoder, the decoder and all texts.
func (b *Board) Layout(c *mad.Codec) {
	mad.Bits(c, &b.DeviceID, 80, 16, "DeviceId", mad.Hex)
	mad.Bits(c, &b.Uptime, 288, 32, "Uptime", mad.Decimal)
	mad.Array(c, b.PSID[:], 448, 8, "PSID", mad.Text)
}

// MarshalJSON gives a Board the same JSON form as the package's own attributes.
func (b *Board) MarshalJSON() ([]byte, error) { return mad.AppendJSON(nil, b) }

// A program declares a vendor's attribute and reads it through the client.
func Example_vendor() {
	fabric, err := sim.Build("demo")
	if err != nil {
		log.Fatal(err)
	}
	fabric.Node("spine1").SetVendorAgent(true)
	port, err := fabric.Open("node02")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	client := umad.NewClient(port, umad.ClientOptions{})

	var board Board
	if err := client.Get(context.Background(), umad.Target{LID: 1}, &board); err != nil {
		log.Fatal(err)
	}
	text, err := json.Marshal(&board)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", text)
	// Output: {"device_id":54002,"uptime":111600,"psid":"SIM_0000054002"}
}
