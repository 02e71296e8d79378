package lookup_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ibkit/ibkit/fabric/lookup"
	"github.com/ibkit/ibkit/sim"
	"github.com/ibkit/ibkit/umad"
)

// Finds ports by addresses of three kinds, and reads their attributes.
func ExampleResolver_Find() {
	simulated, err := sim.Build("demo")
	if err != nil {
		log.Fatal(err)
	}
	port, err := simulated.Open("node01")
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	client := umad.NewClient(port, umad.ClientOptions{})
	resolver := lookup.New(client, client.Local(), lookup.Options{Simulated: true})
	for _, text := range []string{"node07", "3", "0,1"} { // a name, a LID and a directed route
		address, err := lookup.Parse(text)
		if err != nil {
			log.Fatal(err)
		}
		ports, err := resolver.Find(context.Background(), address)
		if err != nil {
			log.Fatal(err)
		}
		if err := resolver.Describe(context.Background(), ports); err != nil {
			log.Fatal(err)
		}
		for _, p := range ports {
			lid, _ := p.LIDs()
			fmt.Printf("%s is %s, LID %d\n", text, p.Description.Clean(), lid)
		}
	}
	// Output:
	// node07 is node07, LID 11
	// 3 is leaf1, LID 3
	// 0,1 is leaf1, LID 3
}
