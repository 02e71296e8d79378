package umad_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// One request after the other. On a host with InfiniBand the port is
// device.Open's (package umad/device).
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
	client := umad.NewClient(port, umad.ClientOptions{Timeout: time.Second, Attempts: 3})

	var node mad.NodeInfo
	reply, err := client.Call(context.Background(), &umad.Request{To: umad.Target{LID: port.Attr().SMLID}, Attr: node.ID()})
	if err == nil {
		err = mad.Decode(&node, reply.Data())
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the subnet manager is at a %v\n", node.NodeType)
	// Output: the subnet manager is at a CA
}

// Many requests at once: the client keeps as many in flight as the fabric bears.
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
	client := umad.NewClient(port, umad.ClientOptions{Timeout: time.Second, Attempts: 3})
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
