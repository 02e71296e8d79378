package pingpong

import (
	"fmt"
	"io"
)

// srqRecords is the number of records that ibv_srq_pingpong sends, used or not.
const srqRecords = 256

// MaxShared is the largest number of queue pairs of ibv_srq_pingpong.
const MaxShared = srqRecords - 1

// done ends the exchange.
const done = "done\x00"

// exchangeClient sends the local queue pairs' records to a server and returns the
// server's. Several records, or shared, use the ibv_srq_pingpong format: its server has
// as many queue pairs as the client. When exchangeClient returns, the server's queue
// pairs are ready to receive.
func exchangeClient(conn io.ReadWriter, local []Address, shared bool) ([]Address, error) {
	if err := write(conn, local, shared); err != nil {
		return nil, err
	}
	remote, err := read(conn, len(local), shared)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, done); err != nil {
		return nil, fmt.Errorf("confirm the server's records: %w", err)
	}
	return remote, nil
}

// exchangeServer receives the client's records, calls connect, and sends the local
// records. It returns when the client has them: the client sends its first message as
// soon as its queue pairs are connected.
func exchangeServer(conn io.ReadWriter, local []Address, shared bool, connect func(remote []Address) error) error {
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
		return fmt.Errorf("wait for the client's confirmation: %w", err)
	}
	return nil
}

// write sends all records with a single call: the programs treat a short read as an
// error.
func write(conn io.Writer, local []Address, shared bool) error {
	b := make([]byte, 0, srqRecords*recordSize)
	for _, r := range local {
		b = r.append(b)
	}
	for n := len(local); shared && n < srqRecords; n++ {
		b = Address{}.append(b)
	}
	if _, err := conn.Write(b); err != nil {
		return fmt.Errorf("send records: %w", err)
	}
	return nil
}

// read receives records and returns the first n.
func read(conn io.Reader, n int, shared bool) ([]Address, error) {
	count := n
	if shared {
		count = srqRecords
	}
	b := make([]byte, count*recordSize)
	if got, err := io.ReadFull(conn, b); err != nil {
		return nil, fmt.Errorf("receive records (%d of %d bytes): %w", got, len(b), err)
	}
	records := make([]Address, n)
	for i := range records {
		r, err := parseRecord(b[i*recordSize:][:recordSize])
		if err != nil {
			return nil, err
		}
		records[i] = r
	}
	return records, nil
}
