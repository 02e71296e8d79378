package mad_test

import (
	"fmt"
	"log"

	"github.com/ibkit/ibkit/mad"
)

// The attribute of a packet that asks a port's subnet management agent.
func Example() {
	var request mad.Packet
	request.PutSMP(mad.SMPRequest{TID: 1, Method: mad.MethodGet, Attr: mad.AttrNodeInfo})
	fmt.Printf("%v, %d bytes\n", request.Class(), len(request))

	// What an adapter with two ports might answer.
	data := make([]byte, mad.DataSize)
	err := mad.Encode(&mad.NodeInfo{NodeType: mad.NodeTypeCA, NumPorts: 2, NodeGUID: 0x0002c90300a1b2c0, LocalPort: 1}, data)
	if err != nil {
		log.Fatal(err)
	}

	var node mad.NodeInfo
	if err := mad.Decode(&node, data); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v with %d ports, GUID %#x\n", node.NodeType, node.NumPorts, node.NodeGUID)
	// Output:
	// SubnLID, 256 bytes
	// CA with 2 ports, GUID 0x2c90300a1b2c0
}
