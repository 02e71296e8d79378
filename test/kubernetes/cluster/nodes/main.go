// Nodes registers nodes with a Kubernetes API server and runs their pods as processes: each
// pod has its own network, host name, process numbers and root directory, as from an image
// with ibkit and no other file. Virtual Kubelet is the kubelet of all nodes.
//
// It needs network and mount namespaces of its own, with the bridge br0.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/node"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
)

// hostAddress is the address of the host on the bridge: nodes and pods reach the API server
// and the name server there.
const hostAddress = "10.96.0.1"

// A rig is the part that all nodes share.
type rig struct {
	dir    string // of the pods
	image  string // program of each pod
	client kubernetes.Interface
	all    informers.SharedInformerFactory
	events record.EventRecorder
}

func main() {
	config := flag.String("kubeconfig", "", "access to the API server, from this `file`")
	dir := flag.String("dir", "", "`directory` for the files of pods")
	image := flag.String("image", "", "ibkit's `file`")
	count := flag.Int("n", 1, "`count` of nodes: host00001, host00002, ...")
	flag.Parse()
	if err := run(context.Background(), *config, *dir, *image, *count); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, config, dir, image string, count int) error {
	access, err := clientcmd.BuildConfigFromFlags("", config)
	if err != nil {
		return err
	}
	access.QPS, access.Burst = 1000, 1000
	client, err := kubernetes.NewForConfig(access)
	if err != nil {
		return err
	}
	events := record.NewBroadcaster()
	events.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	r := &rig{
		dir: dir, image: image, client: client, all: informers.NewSharedInformerFactory(client, 0),
		events: events.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "nodes"}),
	}
	if err := r.serveNames(); err != nil {
		return err
	}
	logs, err := serveLogs(dir)
	if err != nil {
		return err
	}
	failed := make(chan error)
	for i := range count {
		if err := r.start(ctx, i+1, logs, failed); err != nil {
			return err
		}
	}
	r.all.Start(ctx.Done())
	return <-failed
}

// start starts a node. It fails later by the channel.
func (r *rig) start(ctx context.Context, number, logs int, failed chan<- error) error {
	n := &kubelet{rig: r, name: fmt.Sprintf("host%05d", number), address: net.IPv4(10, 77, byte(number>>8), byte(number)).String(), pods: map[string]*pod{}}
	if err := addNetwork(n.name, n.address); err != nil {
		return err
	}
	core := r.all.Core().V1()
	pods, err := node.NewPodController(node.PodControllerConfig{
		PodClient: r.client.CoreV1(), PodInformer: core.Pods(), EventRecorder: r.events, Provider: n,
		ConfigMapInformer: core.ConfigMaps(), SecretInformer: core.Secrets(), ServiceInformer: core.Services(),
		PodEventFilterFunc: func(_ context.Context, p *corev1.Pod) bool { return p.Spec.NodeName == n.name },
	})
	if err != nil {
		return err
	}
	lease := node.WithNodeEnableLeaseV1WithRenewInterval(r.client.CoordinationV1().Leases(corev1.NamespaceNodeLease), 600, 2*time.Minute)
	object, err := node.NewNodeController(node.NaiveNodeProvider{}, n.object(logs), r.client.CoreV1().Nodes(), lease)
	if err != nil {
		return err
	}
	go func() { failed <- fmt.Errorf("pods of %s: %w", n.name, pods.Run(ctx, 1)) }()
	go func() { failed <- fmt.Errorf("%s: %w", n.name, object.Run(ctx)) }()
	return nil
}

// object returns the node's object. The host serves the logs of its pods.
func (n *kubelet) object(logs int) *corev1.Node {
	capacity := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods: resource.MustParse("110"), "rdma/hca": resource.MustParse("1"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: map[string]string{
			corev1.LabelHostname: n.name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: capacity,
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: "v1.37.2", OperatingSystem: "linux", Architecture: "amd64"},
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeInternalIP, Address: n.address}, {Type: corev1.NodeHostName, Address: n.name}, {Type: corev1.NodeExternalIP, Address: hostAddress},
			},
			Conditions:      []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Started", LastHeartbeatTime: metav1.Now()}},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(logs)}},
		},
	}
}

// addNetwork adds a network with an address on the bridge.
func addNetwork(name, address string) error {
	batch := fmt.Sprintf("netns add %s\nlink add %[1]s type veth peer name eth0 netns %[1]s\nlink set %[1]s master br0 up\n", name)
	inside := fmt.Sprintf("link set lo up\naddr add %s/8 dev eth0\nlink set eth0 up\n", address)
	for _, batch := range []struct {
		text string
		args []string
	}{{batch, []string{"-batch", "-"}}, {inside, []string{"-n", name, "-batch", "-"}}} {
		cmd := exec.Command("ip", batch.args...)
		cmd.Stdin = strings.NewReader(batch.text)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("add network %s: %w: %s", name, err, out)
		}
	}
	return nil
}
