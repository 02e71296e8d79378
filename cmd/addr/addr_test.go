package addr

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/cmd/internal/cmdtest"
	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/fabric/lookup"
)

var program = cmdtest.Native(New)

// The JSON conforms to the schema and decodes into lookup.Report without loss, with and
// without results.
func TestAddrJSON(t *testing.T) {
	for line, want := range map[string]int{
		"":                                   cmdutil.ExitOK,
		"7 4-6 node07 0,1":                   cmdutil.ExitOK,
		"node07 nobody":                      cmdutil.ExitPartial,
		"nobody 192.0.2.1":                   cmdutil.ExitFailed,
		"-a --source sa leaf1":               cmdutil.ExitOK,
		"node10":                             cmdutil.ExitFindings,
		"node10 nobody":                      cmdutil.ExitPartial,
		"--source nodes fe80::2:c900:10:a01": cmdutil.ExitOK,
		"--source sa 0,1":                    cmdutil.ExitFailed,
	} {
		t.Run(line, func(t *testing.T) {
			code, out, stderr := program.Run(t, map[string]string{"IBKIT_SIM": "demo"}, append([]string{"addr", "--json"}, strings.Fields(line)...)...)
			if code != want || (stderr == "") != (code == cmdutil.ExitOK || code == cmdutil.ExitFindings) {
				t.Errorf("got exit code %d, want %d\n%s%s", code, want, out, stderr)
			}
			cmdtest.CheckDocument(t, "../../schema/addr.json", out, new(lookup.Report))
		})
	}
}

// JSON has the bytes of a description that the text replaces by blanks.
func TestAddrJSON_DescriptionHex(t *testing.T) {
	_, out, _ := program.Run(t, nil, "addr", "--sim", "net:../../test/nets/odd-descriptions.net", "--json", "1-9")
	for _, want := range []string{
		`"description":"Ger  t-   7","description_hex":"` + hex.EncodeToString([]byte("Gerät-ü 7")) + `"`,
		`"description":"node one HCA-1","description_hex":null`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("got %s, want %s in it", out, want)
		}
	}
}
