package register_test

import (
	"encoding/hex"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/mad/register"
)

// A request for a module's page in a packet, and the light in the reply.
func Example() {
	request := register.NewModule(3)
	block := register.Block{}
	if err := mad.Encode(request, block.Data[:]); err != nil {
		log.Fatal(err)
	}
	fmt.Println("request:", hex.EncodeToString(block.Data[:8]), "modifier:", request.Part().ID)

	reply := block.Data // from a device
	copy(reply[0x0c:], []byte{0x20, 0, 8, 0})
	copy(reply[0x58:], []byte{0x01, 0xf4}) // lane 0: 500 µW
	if err := register.Check(request, reply[:]); err != nil {
		log.Fatal(err)
	}
	power, _ := request.DBm(request.RxPower[0])
	fmt.Printf("%v, %v, lane 0 receives %.1f dBm\n", request.Type, request.Identifier, power)
	// Output:
	// request: 0003000020000003 modifier: PDDR
	// optical module, OSFP, lane 0 receives -3.0 dBm
}
