package linkinfo_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/fabric"
	"github.com/ibkit/ibkit/linkinfo"
	"github.com/ibkit/ibkit/sim"
)

// Prints the links with problems. On a host with InfiniBand, device.Opener (package
// umad/device) takes the place of the simulated fabric.
func ExampleRun() {
	simulated, err := sim.Build("demo")
	if err != nil {
		log.Fatal(err)
	}
	source := fabric.Source{OpenPort: simulated.Opener("node01")}
	r, err := linkinfo.Run(context.Background(), linkinfo.Options{Source: source})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range r.Links() {
		if l.HasProblem() {
			fmt.Println(l)
			for _, f := range l.Located(nil) {
				fmt.Println("  ", f)
			}
		}
	}
	// Output:
	// leaf1[1] - spine1[1]
	//    error: narrow leaf1[1]: 2X, but both ends have 4X enabled
	// leaf2[5] - node07[1]
	//    error: slow leaf2[5]: HDR, but both ends have NDR enabled
	// leaf3[4] - node10[1]
	//    error: not-active leaf3[4]: not activated by a subnet manager
}
