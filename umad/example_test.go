package umad_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// Sends one request. On a host with InfiniBand, device.Open returns the port (package
// umad/device).
func ExampleClient_Call() {
	fabric, err := sim.Build("demo")
	if err != nil {
		log.Fatal(err)
	}
	port, err := fabric.Open("node02")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	client := umad.NewClient(port, umad.ClientOptions{Attempts: 3})

	var node mad.NodeInfo
	reply, err := client.Call(context.Background(), &umad.Request{To: umad.Target{LID: port.Attr().SMLID}, Attr: node.Spec().ID})
	if err == nil {
		err = mad.Decode(&node, reply.Data())
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the subnet manager is at a %v\n", node.NodeType)
	// Output: the subnet manager is at a CA
}

// Sends many requests at the same time. The client adapts the number in flight to the
// fabric.
func ExampleClient_Submit() {
	fabric, err := sim.Build("demo")
	if err != nil {
		log.Fatal(err)
	}
	port, err := fabric.Open("node02")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	client := umad.NewClient(port, umad.ClientOptions{Attempts: 3})
	answered := 0
	for lid := range ib.LID(10) {
		client.Submit(&umad.Request{
			To: umad.Target{LID: lid + 1}, Attr: mad.AttrPortInfo,
			Done: func(_ *umad.Request, reply *umad.Reply) {
				if reply.Err == nil {
					answered++
				}
			},
		})
	}
	if err := client.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answered, "of 10 LIDs answered")
	// Output: 10 of 10 LIDs answered
}

// Reads a table of subnet administration: the records of all nodes.
func ExampleClient_GetTable() {
	fabric, err := sim.Build("demo")
	if err != nil {
		log.Fatal(err)
	}
	port, err := fabric.Open("node02")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	client := umad.NewClient(port, umad.ClientOptions{})
	table, err := client.GetTable(context.Background(), &umad.TableRequest{Match: &mad.NodeRecord{}})
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := umad.Records[mad.NodeRecord](table)
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range nodes[:3] {
		fmt.Printf("LID %d: %v %s\n", n.LID, n.NodeInfo.NodeType, n.Description.Clean())
	}
	// Output:
	// LID 1: Switch spine1
	// LID 2: Switch spine2
	// LID 3: Switch leaf1
}
