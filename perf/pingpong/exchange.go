package pingpong

import (
	"fmt"
	"io"
)

// srqRecords is how many records ibv_srq_pingpong sends, however many of them mean
// anything.
const srqRecords = 256

// done ends the exchange: the client has what it needs.
const done = "done\x00"

// Client tells a server where this side's queue pairs are, and returns where the
// server's are. More than one, or shared, is the exchange of ibv_srq_pingpong:
// the server has as many as the client. The server's queue pairs are ready to
// receive when Client returns. Deadlines are the connection's.
func Client(conn io.ReadWriter, local []Record, shared bool) ([]Record, error) {
	if err := write(conn, local, shared); err != nil {
		return nil, err
	}
	remote, err := read(conn, len(local), shared)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, done); err != nil {
		return nil, fmt.Errorf("tell the server that its record has come: %w", err)
	}
	return remote, nil
}

// Server takes where the client's queue pairs are, has them connected, and then
// tells where its own are. It returns when the client has them: the client sends
// the first message as soon as its own are connected.
func Server(conn io.ReadWriter, local []Record, shared bool, connect func(remote []Record) error) error {
	remote, err := read(conn, len(local), shared)
	if err != nil {
		return err
	}
	if err := connect(remote); err != nil {
		return err
	}
	if err := write(conn, local, shared); err != nil {
		return err
	}
	end := make([]byte, len(done))
	if _, err := io.ReadFull(conn, end); err != nil {
		return fmt.Errorf("wait for the client to have this side's record: %w", err)
	}
	return nil
}

// write sends all in one piece: the programs take a short read for an error.
func write(conn io.Writer, local []Record, shared bool) error {
	b := make([]byte, 0, srqRecords*Size)
	for _, r := range local {
		b = r.Append(b)
	}
	for n := len(local); shared && n < srqRecords; n++ {
		b = Record{}.Append(b)
	}
	if _, err := conn.Write(b); err != nil {
		return fmt.Errorf("tell where the queue pairs are: %w", err)
	}
	return nil
}

// read takes n records, and leaves out those that mean nothing.
func read(conn io.Reader, n int, shared bool) ([]Record, error) {
	count := n
	if shared {
		count = srqRecords
	}
	b := make([]byte, count*Size)
	if got, err := io.ReadFull(conn, b); err != nil {
		return nil, fmt.Errorf("read where the other side's queue pairs are: %w after %d of %d bytes", err, got, len(b))
	}
	records := make([]Record, n)
	for i := range records {
		r, err := Parse(b[i*Size:][:Size])
		if err != nil {
			return nil, err
		}
		records[i] = r
	}
	return records, nil
}
