// Package kubernetes runs ibkit in pods on a Kubernetes cluster: API server, controller
// manager, scheduler and etcd are the real programs, built from their modules, and 64 nodes
// run pods as processes in namespaces (see cluster/nodes).
package kubernetes
