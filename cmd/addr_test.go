package cmd

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The JSON is what the schema says, whatever was found.
func TestAddrJSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../schema/addr.json")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{
		"":                                exitOK,
		"7 4-6 node07 0,1":                exitOK,
		"node07 nobody":                   exitPartial,
		"nobody 192.0.2.1":                exitFailed,
		"-a --ask sa leaf1":               exitOK,
		"node10":                          exitFindings,
		"node10 nobody":                   exitPartial,
		"--ask nodes fe80::2:c900:10:a01": exitOK,
		"--ask sa 0,1":                    exitFailed,
	} {
		code, out, stderr := runCommand(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"addr", "--json"}, strings.Fields(line)...)...)
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(out))
		if err == nil {
			err = schema.Validate(v)
		}
		if code != want || err != nil || (stderr == "") != (code == exitOK || code == exitFindings) {
			t.Errorf("addr %s: exit code %d, %v\n%s%s", line, code, err, out, stderr)
		}
	}
}
