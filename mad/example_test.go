package mad_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// This example builds a request to a port's subnet management agent, and encodes
// and decodes a response's attribute.
func Example() {
	var request mad.Packet
	request.PutSMP(mad.SMPRequest{TID: 1, Method: mad.MethodGet, Attr: mad.AttrNodeInfo})
	fmt.Printf("%v, %d bytes\n", request.Class(), len(request))

	// The attribute data in the response from an adapter with two ports.
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

// This example queries a simulated fabric's subnet administrator for nodes with a given
// type. Components returns the mask for the fields that must match.
func ExampleComponents() {
	fabric, err := sim.Build("single-switch:hosts=3")
	if err != nil {
		log.Fatal(err)
	}
	port, err := fabric.Open("host001")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()

	var match mad.NodeRecord
	match.NodeInfo.NodeType = mad.NodeTypeCA
	table, err := umad.NewClient(port, umad.ClientOptions{}).GetTable(context.Background(), &umad.TableRequest{
		Match: &match,
		Mask:  mad.Components(&match, &match.NodeInfo.NodeType),
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := range table.Len() {
		var node mad.NodeRecord
		if err := table.Record(i, &node); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("LID %d: %s\n", node.LID, node.Description)
	}
	// Output:
	// LID 1: host001
	// LID 2: host002
	// LID 3: host003
}
