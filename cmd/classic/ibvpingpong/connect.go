package ibvpingpong

import (
	"context"
	"errors"
	"net"
	"strconv"
)

// connectors returns a function that connects to the server, or accepts the next client,
// and a function that ends accepting.
func (c *command) connectors() (connect func(context.Context) (net.Conn, error), done func() error) {
	port := strconv.Itoa(c.tcp)
	if c.server != "" {
		return func(ctx context.Context) (net.Conn, error) {
			dialer := net.Dialer{Timeout: peerTimeout}
			conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(c.server, port))
			if err != nil && ctx.Err() == nil {
				err = errors.Join(c.fail("Couldn't connect to %s:%s", c.server, port), err)
			}
			return conn, err
		}, func() error { return nil }
	}
	var l net.Listener
	connect = func(ctx context.Context) (net.Conn, error) {
		if l == nil {
			var err error
			if l, err = (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+port); err != nil {
				return nil, errors.Join(c.fail("Couldn't listen to port %s", port), err)
			}
		}
		stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // Accept returns
		defer stop()
		conn, err := l.Accept()
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return conn, err
	}
	return connect, func() error {
		if l == nil {
			return nil
		}
		if err := l.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}
