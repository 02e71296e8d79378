package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
)

// A count says how many checks passed and how many did not.
type count struct{ passed, failed, skipped int }

func (c count) String() string {
	s := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.skipped > 0 {
		s += fmt.Sprintf(", %d skipped", c.skipped)
	}
	return s
}

// save appends the count to a file in one write, which cannot mix with others.
func (c count) save(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, c.passed, c.failed, c.skipped)
	return errors.Join(err, f.Close())
}

// report prints the sum of the counts in a file. No check at all is a failure.
func report(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	var sum count
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c count
		if _, err := fmt.Sscan(lines.Text(), &c.passed, &c.failed, &c.skipped); err != nil {
			return fmt.Errorf("read counts: %w", err)
		}
		sum.passed += c.passed
		sum.failed += c.failed
		sum.skipped += c.skipped
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read counts: %w", err)
	}
	fmt.Fprintln(os.Stdout, sum)
	if sum.failed > 0 || sum.passed == 0 {
		os.Exit(1) // the line above is to be the last one
	}
	return nil
}
