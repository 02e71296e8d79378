package testenv

import (
	"fmt"
	"net"
	"testing"
	"time"
)

// Dial connects to a program on this host that listens on a TCP port, or will listen soon.
func Dial(tb testing.TB, port int) net.Conn {
	tb.Helper()
	end := time.Now().Add(time.Minute)
	for {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return conn
		}
		if time.Now().After(end) {
			tb.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Listen listens on a free TCP port on this host until the test ends.
func Listen(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() }) // the test may have closed it
	return l
}

// Pair returns a TCP connection's two ends. They are closed when the test ends.
func Pair(tb testing.TB) (client, server net.Conn) {
	tb.Helper()
	l := Listen(tb)
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = client.Close() })
	if server, err = l.Accept(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = server.Close() })
	return client, server
}
