// Command progress reads events of "go test -json" and prints what a person waits for: a
// line for each package that ended, the output of failed tests at once, and the counts.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// An event is a line of "go test -json" (go doc cmd/test2json).
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // in seconds
}

// A test is a test in a package, or with an empty name the package.
type test struct{ pkg, name string }

func main() {
	begin := time.Now()
	outputs := map[test]string{} // of what has not passed
	count := map[string]int{}    // tests by action
	// Not a Scanner: a line may be long.
	for in := bufio.NewReader(os.Stdin); ; {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			fmt.Print(string(line)) // of a program beside the tests
			continue
		}
		t := test{e.Package, e.Test}
		switch e.Action {
		case "output":
			if strings.HasPrefix(e.Output, "=== ") {
				continue // the test's name follows with its result
			}
			outputs[t] += e.Output
		case "build-output":
			fmt.Print(e.Output)
		case "pass", "fail", "skip":
			if e.Test != "" {
				count[e.Action]++
			}
			if e.Action == "fail" {
				fmt.Print(outputs[t])
			}
			if e.Test == "" {
				end(e, outputs)
			}
			delete(outputs, t)
		}
	}
	fmt.Printf("%d passed, %d failed in %v\n", count["pass"], count["fail"], time.Since(begin).Round(time.Second/10))
}

// end prints the line for a package that ended, and what the tests printed that a failed
// one left unfinished.
func end(e event, outputs map[test]string) {
	for t, output := range outputs {
		if t.pkg == e.Package && t.name != "" && e.Action == "fail" {
			fmt.Print(output)
		}
	}
	took := fmt.Sprintf("%.1fs", e.Elapsed)
	if strings.HasSuffix(outputs[test{pkg: e.Package}], "(cached)\n") {
		took = "cached"
	}
	if e.Action != "skip" { // without tests
		fmt.Printf("%s %8s %s\n", e.Action, took, e.Package)
	}
}
