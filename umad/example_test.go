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

// Reads an attribute. On a host with InfiniBand, device.Open returns the port (package
// umad/device).
func ExampleClient_Get() {
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
	if err := client.Get(context.Background(), umad.Target{LID: port.Attr().SMLID}, &node); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the subnet manager is at a %v\n", node.NodeType)
	// Output: the subnet manager is at a CA
}

// Reads an attribute from many ports at the same time. The client adapts the number of
// requests in flight to the fabric.
func ExampleClient_SubmitGet() {
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
	active := 0
	for lid := range ib.LID(10) {
		var info mad.PortInfo
		client.SubmitGet(umad.Target{LID: lid + 1}, &info, func(err error) {
			if err == nil && info.State == ib.PortActive {
				active++
			}
		})
	}
	if err := client.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(active, "of 10 ports are active")
	// Output: 10 of 10 ports are active
}

// Reads a subnet administration table: the records for all nodes.
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
