//go:build manifests

package kubernetes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// decode decodes an object of the API: a field that the API does not have is an error.
func decode[T any](text []byte) error { return yaml.UnmarshalStrict(text, new(T)) }

// kinds are the objects in manifests, as "apiVersion kind".
var kinds = map[string]func([]byte) error{
	"v1 Service":        decode[corev1.Service],
	"v1 ServiceAccount": decode[corev1.ServiceAccount],
	"apps/v1 DaemonSet": decode[appsv1.DaemonSet],
	"batch/v1 Job":      decode[batchv1.Job],
	"rbac.authorization.k8s.io/v1 ClusterRole":        decode[rbacv1.ClusterRole],
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding": decode[rbacv1.ClusterRoleBinding],

	// Their operators' types are in no module here: the templates in them are checked.
	"jobset.x-k8s.io/v1alpha2 JobSet":             templates,
	"kubeflow.org/v2beta1 MPIJob":                 templates,
	"leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": templates,
}

// templates checks the templates of pods and Jobs in an object.
func templates(text []byte) error {
	var object any
	if err := yaml.UnmarshalStrict(text, &object); err != nil {
		return err
	}
	found := 0
	if err := walk(object, &found); err != nil || found == 0 {
		return fmt.Errorf("got %d templates, %w", found, err)
	}
	return nil
}

func walk(object any, found *int) error {
	switch o := object.(type) {
	case []any:
		for _, v := range o {
			if err := walk(v, found); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, v := range o {
			check := walk
			if strings.HasSuffix(strings.ToLower(name), "template") && name != "leaderWorkerTemplate" {
				check = template
			}
			if err := check(v, found); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// template checks a template: that of a Job has a template itself.
func template(object any, found *int) error {
	*found++
	text, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	if spec, _ := object.(map[string]any)["spec"].(map[string]any); spec["template"] != nil {
		return decode[batchv1.JobTemplateSpec](text)
	}
	return decode[corev1.PodTemplateSpec](text)
}

// TestManifests checks all objects against the types of the API, patches included.
func TestManifests(t *testing.T) {
	files, err := filepath.Glob("*/*.yaml")
	if err != nil || len(files) < 12 {
		t.Fatalf("got files %q, %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for document := range strings.SplitSeq(string(text), "\n---\n") {
				var head struct{ APIVersion, Kind string }
				if err := yaml.Unmarshal([]byte(document), &head); err != nil {
					t.Fatal(err)
				}
				check := kinds[head.APIVersion+" "+head.Kind]
				if check == nil {
					t.Errorf("unknown object %+v", head)
				} else if err := check([]byte(document)); err != nil {
					t.Errorf("%s: %v", head.Kind, err)
				}
			}
		})
	}
}

// TestJob_Sizes checks that the numbers of workers agree, and that the Service selects the pods
// of the Job.
func TestJob_Sizes(t *testing.T) {
	read := func(file string, into any) {
		t.Helper()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, into); err != nil {
			t.Fatal(err)
		}
	}
	var job batchv1.Job
	var service corev1.Service
	read("base/job.yaml", &job)
	read("base/service.yaml", &service)
	pod := job.Spec.Template
	args := strings.Join(pod.Spec.Containers[0].Args, " ")
	for _, want := range []string{
		fmt.Sprintf("--ranks=%d ", *job.Spec.Completions), fmt.Sprintf("--ranks=%d ", *job.Spec.Parallelism),
		fmt.Sprintf("-0.%s:%d ", service.Name, service.Spec.Ports[0].Port),
	} {
		if !strings.Contains(args, want) {
			t.Errorf("got arguments %q, want %q", args, want)
		}
	}
	if pod.Spec.Subdomain != service.Name || !service.Spec.PublishNotReadyAddresses || service.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("got subdomain %q and service %+v", pod.Spec.Subdomain, service.Spec)
	}
	for name, value := range service.Spec.Selector {
		if pod.Labels[name] != value {
			t.Errorf("got pod labels %v, want %s=%s", pod.Labels, name, value)
		}
	}
}
