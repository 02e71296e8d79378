package fabric_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// This example scans a simulated fabric.
func ExampleDiscover() {
	simulated, err := sim.Build("single-switch:hosts=3")
	if err != nil {
		log.Fatal(err)
	}
	port, err := simulated.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	found, err := fabric.Discover(context.Background(), umad.NewClient(port, umad.ClientOptions{}), fabric.DiscoverOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range found.Nodes {
		fmt.Println(n.Info.NodeType, n.Desc)
	}
	// Output:
	// CA host001
	// Switch switch1
	// CA host002
	// CA host003
}
