// Demo shows the links of a simulated fabric with a binary of ibkit:
//
//	go run ./test/demo build/ibkit
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ibkit/ibkit/test/ibsimtest"
)

// netFile is seen from the root of the repository.
const netFile = "test/nets/parallel-links-and-router.net"

func main() {
	log.SetFlags(0)
	log.SetPrefix("demo: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: demo IBKIT")
	}
	if err := run(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(binary string) (err error) {
	path, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	sim, err := ibsimtest.Start(netFile)
	if err != nil {
		return err
	}
	defer func() {
		if e := sim.Stop(); err == nil {
			err = e
		}
	}()
	if err := sim.ConfigureSubnet(context.Background(), "host-a"); err != nil {
		return err
	}
	r, err := sim.Run(context.Background(), "host-a", path, "linkinfo")
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(os.Stdout, r.Stdout, r.Stderr)
	return err
}
