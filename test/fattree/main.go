// Fattree writes a fat tree net file for ibsim to standard output:
//
//	go run ./test/fattree -levels 3 -radix 40 -pods 26 > net
package main

import (
	"errors"
	"flag"
	"log"
	"os"

	"github.com/ibkit/ibkit/test/netgen"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("fattree: ")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	levels := flag.Int("levels", 2, "`levels` of switches: 2 or 3")
	radix := flag.Int("radix", 36, "`ports` of a switch")
	leaves := flag.Int("leaves", 0, "number of leaf switches (2 levels)")
	pods := flag.Int("pods", 0, "number of pods (3 levels)")
	flag.Parse()
	if (*leaves > 0) == (*pods > 0) || (*leaves > 0) != (*levels == 2) {
		return errors.New("give -leaves with 2 levels, -pods with 3")
	}
	net, err := netgen.FatTree{Levels: *levels, Radix: *radix, Width: max(*leaves, *pods)}.Build()
	if err != nil {
		return err
	}
	return net.Write(os.Stdout)
}
