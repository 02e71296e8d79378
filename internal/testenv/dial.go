package testenv

import (
	"fmt"
	"net"
	"testing"
	"time"
)

// Dial connects to a program of this host that listens at a TCP port, or is about
// to.
func Dial(tb testing.TB, port int) net.Conn {
	tb.Helper()
	end := time.Now().Add(20 * time.Second)
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
