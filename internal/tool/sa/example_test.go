package sa_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/internal/tool/sa"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/sim"
)

// List the switches that subnet administration knows. On a host with an adapter,
// OpenPort opens its port with package umad/device.
func Example() {
	demo, err := sim.Build("demo")
	if err != nil {
		log.Fatal(err)
	}
	kind, err := sa.ParseKind("NodeRecord")
	if err != nil {
		log.Fatal(err)
	}
	filter := sa.NewFilter(kind)
	if err := filter.Add("NodeType=2"); err != nil {
		log.Fatal(err)
	}
	result, err := sa.Run(context.Background(), sa.Options{
		Source: fabric.Source{OpenPort: demo.Opener("")},
		Filter: filter,
	})
	if err != nil {
		log.Fatal(err)
	}
	for i := range result.Len() {
		var node mad.NodeRecord
		if err := result.Record(i, &node); err != nil {
			log.Fatal(err)
		}
		fmt.Println(node.Description.Clean(), "has LID", node.LID)
	}
	// Output:
	// spine1 has LID 1
	// spine2 has LID 2
	// leaf1 has LID 3
	// leaf2 has LID 8
	// leaf3 has LID 13
	// leaf4 has LID 18
}
