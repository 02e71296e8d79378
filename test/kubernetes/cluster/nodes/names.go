package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/discovery/v1"
)

// nameServer is the address of the name server on the bridge.
const nameServer = "10.96.0.10"

// lateFile holds back the records of services, in the directory of the pods.
const lateFile = "names-late"

// names resolves names of services and of pods in headless services, as Kubernetes specifies
// in "DNS-Based Service Discovery".
type names struct {
	late   string
	slices listers.EndpointSliceLister
}

// serveNames answers on the name server's address until the program ends.
func (r *rig) serveNames() error {
	conn, err := net.ListenPacket("udp", net.JoinHostPort(nameServer, "53"))
	if err != nil {
		return err
	}
	n := &names{filepath.Join(r.dir, lateFile), r.all.Discovery().V1().EndpointSlices().Lister()}
	go func() {
		packet := make([]byte, 512)
		for {
			size, from, err := conn.ReadFrom(packet)
			if err != nil {
				return
			}
			if reply := n.reply(packet[:size]); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return nil
}

// reply returns the reply to a query, or nil for an invalid query.
func (n *names) reply(query []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	addresses := n.find(q.Name.String())
	m.Response, m.Authoritative, m.RecursionAvailable, m.Additionals = true, true, true, nil
	if addresses == nil {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addresses {
		if ip := net.ParseIP(a).To4(); ip != nil && q.Type == dnsmessage.TypeA && len(m.Answers) < 25 {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 5}, Body: &dnsmessage.AResource{A: [4]byte(ip)},
			})
		}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}

// find returns the addresses of [POD.]SERVICE.NAMESPACE.svc.cluster.local.
func (n *names) find(name string) (addresses []string) {
	parts := strings.Split(strings.TrimSuffix(name, ".svc.cluster.local."), ".")
	if _, err := os.Stat(n.late); err == nil || len(parts) < 2 || len(parts) > 3 {
		return nil
	}
	host, service, namespace := "", parts[len(parts)-2], parts[len(parts)-1]
	if len(parts) == 3 {
		host = parts[0]
	}
	slices, err := n.slices.EndpointSlices(namespace).List(labels.Set{discoveryv1.LabelServiceName: service}.AsSelector())
	if err != nil {
		return nil
	}
	for _, s := range slices {
		for _, e := range s.Endpoints {
			ready := e.Conditions.Ready == nil || *e.Conditions.Ready
			if ready && (host == "" || e.Hostname != nil && *e.Hostname == host) {
				addresses = append(addresses, e.Addresses...)
			}
		}
	}
	return addresses
}

// resolver returns a pod's resolv.conf: with the network of its node, it resolves names of
// services only by an explicit policy.
func resolver(p *corev1.Pod) string {
	if p.Spec.DNSPolicy == corev1.DNSDefault || p.Spec.HostNetwork && p.Spec.DNSPolicy != corev1.DNSClusterFirstWithHostNet {
		return ""
	}
	return "search " + p.Namespace + ".svc.cluster.local svc.cluster.local cluster.local\nnameserver " + nameServer + "\noptions ndots:5\n"
}
