package rdmacm_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/ibkit/ibkit/rdmacm"
	"github.com/ibkit/ibkit/verbs"
)

// A server on all an RDMA device's local addresses, and a client that connects to such an
// address. Both exchange private data; messages over the queue pairs follow as in
// the package verb example.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	l, err := rdmacm.ListenConfig{}.Listen(ctx, ":0")
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	served := make(chan error)
	go func() { served <- serve(ctx, l) }()

	answer, err := call(ctx, l.Addr().(rdmacm.IPAddr).Port(), "hello")
	if err := errors.Join(err, <-served); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}

// address is an RDMA device address.
const address = "10.0.0.1"

// call connects, and returns the reply's private data.
func call(ctx context.Context, port uint16, text string) (_ string, err error) {
	param := rdmacm.DefaultParam
	param.PrivateData = []byte(text)
	var own queuePair
	defer func() { err = errors.Join(err, own.close()) }()
	conn, err := rdmacm.Dialer{Param: &param, Setup: own.setup}.Dial(ctx, fmt.Sprintf("%s:%d", address, port))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return text + ", " + string(bytes.TrimRight(conn.Param().PrivateData, "\x00")), conn.Disconnect(ctx)
}

// serve accepts a single connection and waits for its end.
func serve(ctx context.Context, l *rdmacm.Listener) (err error) {
	request, err := l.Accept(ctx)
	if err != nil {
		return err
	}
	var own queuePair
	qp, err := own.setup(ctx, request.ID())
	if err != nil {
		return errors.Join(err, request.Close())
	}
	defer func() { err = errors.Join(err, own.close()) }()
	param := rdmacm.DefaultParam
	param.PrivateData = []byte("world")
	conn, err := request.Accept(ctx, qp, &param)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_, err = conn.Next(ctx) // rdmacm.EventDisconnected
	return err
}

// A queuePair is a queue pair with its own context.
type queuePair struct{ context *verbs.Context }

// setup creates a connection's queue pair.
func (q *queuePair) setup(_ context.Context, id *rdmacm.ID) (*verbs.QP, error) {
	device, err := id.Device()
	if err != nil {
		return nil, err
	}
	if q.context, err = device.Open(); err != nil {
		return nil, err
	}
	pd, err := q.context.AllocPD()
	if err != nil {
		return nil, err
	}
	cq, err := q.context.CreateCQ(verbs.CQInit{Entries: 4})
	if err != nil {
		return nil, err
	}
	return pd.CreateQP(verbs.QPInit{
		Type: id.QPType(), SendCQ: cq, RecvCQ: cq,
		Cap: verbs.QPCap{MaxSendWR: 2, MaxRecvWR: 2, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
}

// close closes the context, which closes the queue pair.
func (q *queuePair) close() error {
	if q.context == nil {
		return nil
	}
	return q.context.Close()
}
