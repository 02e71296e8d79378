// Agent is the first program in a guest. As process 1 it prepares a Linux system
// environment and adopts orphans. Its child starts the runner's commands. The guest ends
// with that child.
package main

import (
	"fmt"
	"log"
	"os"

	"golang.org/x/sys/unix"
)

const serveArg = "serve"

func main() {
	log.SetFlags(0)
	log.SetPrefix("agent: ")
	if len(os.Args) > 1 && os.Args[1] == serveArg {
		if err := serve(); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(); err != nil {
		log.Print(err)
	}
	// QEMU has the option to exit instead of restarting.
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART); err != nil {
		log.Fatalf("end guest: %v", err)
	}
}

// run starts the server and collects orphans until the server ends.
func run() error {
	if err := prepare(); err != nil {
		return err
	}
	server, err := os.StartProcess("/proc/self/exe", []string{"agent", serveArg}, &os.ProcAttr{
		Env:   os.Environ(),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	for {
		switch pid, err := unix.Wait4(-1, nil, 0, nil); {
		case err == unix.EINTR:
		case err != nil:
			return fmt.Errorf("wait for processes: %w", err)
		case pid == server.Pid:
			return nil
		}
	}
}
