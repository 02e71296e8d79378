// Tally runs a check, shows what went wrong in it, and keeps count:
//
//	tally -results FILE [-name NAME] command [argument...]
//	tally -sum FILE
//
// Of "go test" it counts each test and subtest, of any other command the
// command as a whole. Counts are appended to FILE, so that several checks can
// run at a time; -sum adds them up and prints "N passed, N failed".
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// errFailed says that checks failed, which has been told in detail before.
var errFailed = errors.New("not all checks passed")

func main() {
	log.SetFlags(0)
	log.SetPrefix("tally: ")
	results := flag.String("results", "", "`file` to which the counts are appended")
	name := flag.String("name", "", "what to call the check")
	sum := flag.String("sum", "", "add up the counts in `file` and do nothing else")
	flag.Parse()
	if err := run(*sum, *results, *name, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(sum, results, name string, command []string) error {
	if sum != "" {
		return report(sum)
	}
	if len(command) == 0 || results == "" {
		return errors.New("no command or no -results")
	}
	if name == "" {
		name = strings.Join(command, " ")
	}
	fmt.Fprintf(os.Stdout, "=== %s\n", name)
	start := time.Now()
	var c count
	var err error
	if len(command) > 2 && command[0] == "go" && command[1] == "test" {
		c, err = goTest(slices.Concat([]string{"test", "-json"}, command[2:]))
	} else {
		c, err = whole(command)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "--- %s: %s in %.1f s\n", name, c, time.Since(start).Seconds())
	if err := c.save(results); err != nil {
		return err
	}
	if c.failed > 0 {
		return errFailed
	}
	return nil
}

// whole runs a command that counts as one check.
func whole(command []string) (count, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case err == nil:
		return count{passed: 1}, nil
	case errors.As(err, &exit):
		return count{failed: 1}, nil
	default:
		return count{}, err
	}
}
