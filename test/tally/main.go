// Tally runs a check, shows what went wrong in it, and keeps count:
//
//	tally -results FILE [-name NAME] [-again TEXT] command [argument...]
//	tally -sum FILE
//
// Of "go test" it counts each test and subtest, of any other command the
// command as a whole. Counts are appended to FILE, so that several checks can
// run at a time; -sum adds them up and prints "N passed, N failed".
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
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
	again := flag.String("again", "", "run a go test once more where it fails with `text` in what it says")
	sum := flag.String("sum", "", "add up the counts in `file` and do nothing else")
	flag.Parse()
	if err := run(*sum, *results, *name, *again, flag.Args()); err != nil {
		log.Fatal(err)
	}
}

func run(sum, results, name, again string, command []string) error {
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
		c, err = goTestAgain(slices.Concat([]string{"test", "-json"}, command[2:]), again)
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

// goTestAgain is [goTest], once more where the first time failed and said again.
func goTestAgain(args []string, again string) (count, error) {
	var said bytes.Buffer
	c, err := goTest(args, io.MultiWriter(os.Stdout, &said))
	if err == nil && c.failed > 0 && again != "" && bytes.Contains(said.Bytes(), []byte(again)) {
		fmt.Fprintf(os.Stdout, "=== again, because of %q\n", again)
		c, err = goTest(args, os.Stdout)
	}
	return c, err
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
