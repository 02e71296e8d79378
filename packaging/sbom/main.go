// Command sbom writes the bill of materials for a Go binary as CycloneDX JSON: the modules
// listed in the binary's build information. Runs with the same binary write the same bytes.
//
//	sbom -version VERSION -time RFC3339 BINARY FILE
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

func main() {
	version := flag.String("version", "", "version of the binary")
	built := flag.String("time", "", "time of the commit that it was built from")
	flag.Parse()
	if err := run(*version, *built, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(version, built string, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("got arguments %q, want a binary and a file to write", args)
	}
	if _, err := time.Parse(time.RFC3339, built); err != nil {
		return fmt.Errorf("read -time: %w", err)
	}
	if version == "" {
		return errors.New("no -version given")
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return fmt.Errorf("read build info: %w", err)
	}
	var text bytes.Buffer
	e := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	if err := e.EncodeVersion(newBill(info, version, built), cyclonedx.SpecVersion1_6); err != nil {
		return fmt.Errorf("write bill: %w", err)
	}
	return os.WriteFile(args[1], text.Bytes(), 0o644)
}

func newBill(info *buildinfo.BuildInfo, version, built string) *cyclonedx.BOM {
	product := newComponent(cyclonedx.ComponentTypeApplication, info.Main.Path, version, "")
	var settings []cyclonedx.Property
	for _, s := range info.Settings {
		settings = append(settings, cyclonedx.Property{Name: "go:" + s.Key, Value: s.Value})
	}
	parts := []cyclonedx.Component{
		newComponent(cyclonedx.ComponentTypeLibrary, "std", strings.TrimPrefix(info.GoVersion, "go"), ""),
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		parts = append(parts, newComponent(cyclonedx.ComponentTypeLibrary, d.Path, d.Version, d.Sum))
	}
	var needed []string
	for _, p := range parts {
		needed = append(needed, p.BOMRef)
	}
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{Timestamp: built, Component: &product, Properties: &settings}
	b.Components = &parts
	b.Dependencies = &[]cyclonedx.Dependency{{Ref: product.BOMRef, Dependencies: &needed}}
	return b
}

// newComponent makes a component from a module. The sum is from go.sum: h1: and the base 64
// of a SHA-256 over the module's files.
func newComponent(kind cyclonedx.ComponentType, path, version, sum string) cyclonedx.Component {
	c := cyclonedx.Component{Type: kind, Name: path, Version: version}
	c.PackageURL = "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	c.BOMRef = c.PackageURL
	if text, isSHA := strings.CutPrefix(sum, "h1:"); isSHA {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
		}
	}
	return c
}
