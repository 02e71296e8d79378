// Shell opens a shell in a guest that has ibkit, Soft-RoCE devices and Debian's RDMA tools:
//
//	go run ./test/guest/shell [-devices N] [COMMAND [ARG...]]
//
// With a command it runs that command and exits with the command's code.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/ibkit/ibkit/test/guest"
)

// tools are useful programs in a shell.
var tools = []string{
	"bash", "ip", "rdma", "strace",
	"ibv_devices", "ibv_devinfo", "ibv_asyncwatch", "ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong",
	"ibstat", "ibstatus", "rping",
	"ib_send_lat", "ib_send_bw", "ib_write_lat", "ib_write_bw", "ib_read_lat", "ib_read_bw",
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("guest-shell: ")
	devices := flag.Int("devices", 1, "`number` of Soft-RoCE devices")
	timeout := flag.Duration("timeout", 24*time.Hour, "how long the guest lives at most")
	flag.Parse()
	code, err := run(*devices, *timeout, flag.Args())
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

func run(devices int, timeout time.Duration, command []string) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGHUP)
	defer stop()
	spec := guest.Spec{
		Name:        "shell",
		Tools:       tools,
		Programs:    []guest.Program{guest.Ibkit},
		Timeout:     timeout,
		Interactive: len(command) == 0,
	}
	for i := range devices {
		spec.Devices = append(spec.Devices, guest.Device{Name: fmt.Sprintf("rxe%d", i)})
	}
	// QEMU makes the terminal raw and, killed, leaves it so.
	stdin := int(os.Stdin.Fd())
	if state, err := term.GetState(stdin); err == nil {
		defer func() { _ = term.Restore(stdin, state) }()
	}
	g, err := guest.Boot(ctx, spec)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	if len(command) > 0 {
		r, err := g.Run(guest.Idle(ctx, timeout), guest.Command{Args: command})
		if err != nil {
			return 0, err
		}
		_, _ = os.Stdout.WriteString(r.Stdout)
		_, _ = os.Stderr.WriteString(r.Stderr)
		return r.Code, nil
	}
	columns, rows, err := term.GetSize(stdin)
	if err != nil || columns == 0 || rows == 0 {
		columns, rows = 80, 25
	}
	r, err := g.Shell(ctx, rows, columns)
	return r.Code, err
}
