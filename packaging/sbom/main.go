// Command sbom writes the bill of materials of a Go binary as CycloneDX JSON:
// what the binary itself says it was built from, and nothing that changes from
// one run to the next.
//
//	sbom BINARY FILE
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// The parts of CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/) that a Go
// binary has something to say in.
type (
	bom struct {
		Format     string      `json:"bomFormat"`
		Spec       string      `json:"specVersion"`
		Version    int         `json:"version"`
		Metadata   metadata    `json:"metadata"`
		Components []component `json:"components"`
	}
	metadata struct {
		Component  component  `json:"component"`
		Properties []property `json:"properties"`
	}
	component struct {
		Type    string `json:"type"`
		Ref     string `json:"bom-ref"`
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
		PURL    string `json:"purl"`
		Hashes  []hash `json:"hashes,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("expected a binary and a file to write, got %q", args)
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read build info: %w", err)
	}
	b := bom{Format: "CycloneDX", Spec: "1.5", Version: 1, Components: []component{}}
	b.Metadata.Component = newComponent("application", info.Main.Path, "", "")
	for _, s := range info.Settings {
		b.Metadata.Properties = append(b.Metadata.Properties, property{"go:" + s.Key, s.Value})
	}
	b.Components = append(b.Components, newComponent("library", "std", info.GoVersion, ""))
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		b.Components = append(b.Components, newComponent("library", d.Path, d.Version, d.Sum))
	}
	text, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return fmt.Errorf("write bill: %w", err)
	}
	return os.WriteFile(args[1], append(text, '\n'), 0o644)
}

// newComponent makes a component of a module. The sum is that of go.sum: h1: and
// the base 64 of a SHA-256 of the module's files.
func newComponent(kind, path, version, sum string) component {
	c := component{Type: kind, Name: path, Version: version, PURL: "pkg:golang/" + path}
	if version != "" {
		c.PURL += "@" + version
	}
	c.Ref = c.PURL
	if text, isSHA := strings.CutPrefix(sum, "h1:"); isSHA {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			c.Hashes = []hash{{"SHA-256", hex.EncodeToString(raw)}}
		}
	}
	return c
}
