package main

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"

	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	"k8s.io/client-go/util/cert"
)

// logFile returns the file with a pod's output.
func logFile(dir, namespace, name string) string {
	return filepath.Join(dir, namespace+"-"+name+".log")
}

// serveLogs serves the output of all pods to the API server, and returns the port.
func serveLogs(dir string) (port int, err error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(hostAddress, nil, nil)
	if err != nil {
		return 0, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return 0, err
	}
	l, err := tls.Listen("tcp", net.JoinHostPort(hostAddress, "0"), &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		return 0, err
	}
	handler := api.PodHandler(api.PodHandlerConfig{
		GetContainerLogs: func(_ context.Context, namespace, name, _ string, _ api.ContainerLogOpts) (io.ReadCloser, error) {
			return os.Open(logFile(dir, namespace, name))
		},
	}, false)
	go func() { _ = http.Serve(l, handler) }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
