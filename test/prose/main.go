// Prose measures the project's plain English: how often comments, documents, manual pages,
// schemas and printed strings use words that hide the meaning. Usage:
//
//	go run ./test/prose [-list] [directory or file ...]
//
// It prints the rate for each word group per 1,000 words, and with -list the lines.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	list := flag.Bool("list", false, "print each line with a hit")
	flag.Parse()
	roots := flag.Args()
	if len(roots) == 0 {
		roots = []string{"."}
	}
	if err := run(roots, *list); err != nil {
		fmt.Fprintln(os.Stderr, "prose:", err)
		os.Exit(1)
	}
}

func run(roots []string, list bool) error {
	texts, err := readTexts(roots...)
	if err != nil {
		return err
	}
	if list {
		for _, h := range hits(texts) {
			fmt.Fprintln(os.Stdout, h)
		}
	}
	for _, r := range rates(texts) {
		fmt.Fprintln(os.Stdout, r)
	}
	return nil
}
