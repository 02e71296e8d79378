package check

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

// TestNPDConfig runs the plugin of packaging/kubernetes on a host with an error and on a host
// without, and checks the rules that Node Problem Detector checks at its start
// (kubernetes/node-problem-detector, pkg/custompluginmonitor/types/config.go, Validate).
func TestNPDConfig(t *testing.T) {
	text, err := os.ReadFile("../../packaging/kubernetes/node-problem-detector/ibkit-check.json")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Plugin       string
		PluginConfig struct {
			InvokeInterval string `json:"invoke_interval"`
			Timeout        string
		}
		Conditions []struct{ Type, Reason, Message string }
		Rules      []struct {
			Type, Condition, Reason, Path string
			Args                          []string
		}
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	rule, condition := config.Rules[0], config.Conditions[0]
	if config.Plugin != "custom" || rule.Type != "permanent" || rule.Condition != condition.Type || rule.Path != "/usr/bin/ibkit" {
		t.Errorf("got %+v", config)
	}
	interval, err := time.ParseDuration(config.PluginConfig.InvokeInterval)
	timeout, other := time.ParseDuration(config.PluginConfig.Timeout)
	if err != nil || other != nil || timeout >= interval {
		t.Errorf("got interval %v, %v and timeout %v, %v", interval, err, timeout, other)
	}
	for host, want := range map[string]int{"bnxt": npdProblem, "efa": 0, "broken": npdUnknown} {
		t.Run(host, func(t *testing.T) {
			code, out, _ := program.Run(t, nil, append(slices.Clone(rule.Args), "--root", root(t, host))...)
			if code != want || out == "" {
				t.Errorf("got exit code %d and %q, want %d", code, out, want)
			}
		})
	}
}
