package fabricfile_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/fabric/fabricfile"
	"github.com/ibkit/ibkit/fabric/ibdiagnet"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// Stores a scan as ibdiagnet's link list, and reads it back. Parse recognizes all formats.
func ExampleParse() {
	simulated, err := sim.Build("single-switch:hosts=2")
	if err != nil {
		log.Fatal(err)
	}
	port, err := simulated.Open("")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	scan, err := fabric.Discover(context.Background(), umad.NewClient(port, umad.ClientOptions{}), fabric.DiscoverOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	if err := ibdiagnet.WriteList(&file, scan, nil); err != nil {
		log.Fatal(err)
	}

	stored, err := fabricfile.Parse(file.Bytes(), "ibdiagnet2.lst")
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range stored.Fabric.Nodes {
		for _, p := range n.Ports {
			if p != nil && p.Peer != nil {
				fmt.Printf("%v LID %d, peer %v\n", p, p.LID(), p.Peer)
			}
		}
	}
	// Output:
	// host001[1] LID 1, peer switch1[1]
	// switch1[1] LID 3, peer host001[1]
	// switch1[2] LID 3, peer host002[1]
	// host002[1] LID 2, peer switch1[2]
}
