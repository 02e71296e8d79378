// Command ibkit-cuda has the memory of an NVIDIA GPU for ibkit perf --memory cuda:N. It is
// apart from ibkit because libcuda needs a dynamically linked program.
//
// It allocates memory, exports it as dma-bufs, and copies payloads, as its client requests:
// see package internal/dmabuf. ibkit starts it with the connection as standard input; with
// -listen it serves clients of perf --memory dmabuf:PATH.
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"

	"github.com/ibkit/ibkit/internal/dmabuf"
)

func main() {
	device := flag.String("device", "0", "number or PCI address of the `GPU`")
	listen := flag.String("listen", "", "serve clients of this user at a Unix socket with `PATH`")
	flag.Parse()
	if err := run(*device, *listen); err != nil {
		fmt.Fprintln(os.Stderr, "ibkit-cuda:", err)
		os.Exit(1)
	}
}

// run serves the standard input, or the clients of a socket.
func run(device, listen string) error {
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	g, err := open(device)
	if listen != "" && err != nil {
		return err
	}
	if listen != "" {
		return serve(g, listen)
	}
	conn, failed := net.FileConn(os.Stdin)
	socket, ok := conn.(*net.UnixConn)
	if failed != nil || !ok {
		return errors.Join(errors.New("the standard input is not a Unix socket: ibkit perf --memory cuda:N starts this program"), err)
	}
	return dmabuf.Serve(socket, g, err)
}

// serve serves the clients of a socket.
func serve(g *gpu, path string) error {
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return err
	}
	defer l.Close()
	if err := os.Chmod(path, 0o600); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "serving memory of %s at %s\n", g.Name(), path)
	for {
		conn, err := l.AcceptUnix()
		if err != nil {
			return err
		}
		go func() {
			if err := dmabuf.Serve(conn, g, nil); err != nil {
				fmt.Fprintln(os.Stderr, "ibkit-cuda:", err)
			}
		}()
	}
}
