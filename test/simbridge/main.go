// Simbridge plugs InfiniBand ports from the kernel module test/kmod/ibtest into a
// simulated fabric, until it is interrupted. Programs without any knowledge of the
// simulator then see the fabric through /dev/infiniband/umadN and can take part in it, for
// example as a subnet manager or an ibping server:
//
//	simbridge -sm off -plug ibtest0=host00001 -plug ibtest1=host00002 fat-tree
//
// The fabric's agents answer first. Requests that no agent answers go to the destination
// host if it is plugged in: requests in classes that a program has registered for, and
// subnet administration if a subnet manager runs on that host.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"

	"github.com/ibkit/ibkit/sim"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("simbridge: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	var plugs []Plug
	flag.Func("plug", "connect a port of this host to a port of the fabric: `DEVICE[/PORT]=NODE` (default ibtest0=)", func(s string) error {
		p, err := ParsePlug(s)
		plugs = append(plugs, p)
		return err
	})
	general := flag.String("general", "", "`DEVICE` of a pair that sends general packets only")
	management := flag.String("management", "", "`DEVICE` of a pair that sends directed-route packets only")
	sm := flag.String("sm", "on", "routing `MODE` of the fabric's subnet manager; off: none has run")
	model := flag.String("model", "", "clock model: `NAME=VALUE,...`")
	lose := flag.Int("lose-segments", 0, "lose each `N`th packet with a segment of a long response from one host to another")
	var commands []string
	flag.Func("do", "run a `COMMAND` of the simulator before the ports are plugged in", func(s string) error {
		commands = append(commands, s)
		return nil
	})
	flag.Parse()
	if flag.NArg() != 1 {
		return errors.New("want one argument: the fabric")
	}
	if len(plugs) == 0 {
		plugs = []Plug{{Device: "ibtest0", Port: 1}}
	}
	for i := range plugs {
		switch plugs[i].Device {
		case *general:
			plugs[i].Role = General
		case *management:
			plugs[i].Role = Management
		}
	}
	f, err := sim.Build(flag.Arg(0), "sm="+*sm)
	if err != nil {
		return err
	}
	if *model != "" {
		if err := f.Model.ParseModel(*model); err != nil {
			return err
		}
	}
	for i, text := range commands {
		c, err := f.ParseCommand("-do", i+1, text)
		if err == nil {
			err = f.Do(c, os.Stdout)
		}
		if err != nil {
			return err
		}
	}
	b, err := Open(f, plugs)
	if err != nil {
		return err
	}
	b.LoseEvery = *lose
	// Tests wait for this line.
	if _, err := fmt.Fprintln(os.Stdout, "Plugged in."); err != nil {
		return err
	}
	return b.Run(ctx)
}
