package sysfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/plural"
)

// noPMA is the start of a counter file on a port without performance management: an absent
// counter rather than a problem (drivers/infiniband/core/sysfs.c).
const noPMA = "N/A"

// Counters returns a counter directory's values by file name; nil without a value. A file
// that cannot be read does not hide the others. Files with the same cause are a single
// problem, because a port whose PMA does not respond fails them all.
func (d Dir) Counters() map[string]uint64 {
	var failed []error
	files := Dir{d.path, &failed}
	var all map[string]uint64
	for _, name := range files.Names() {
		if name == "lifespan" { // the values' maximum age in ms, not a counter
			continue
		}
		text := files.Text(name)
		if text == nil || strings.HasPrefix(*text, noPMA) {
			continue
		}
		n, err := strconv.ParseUint(*text, 10, 64)
		if err != nil {
			err = fmt.Errorf("%q is not an unsigned 64-bit number", *text)
			failed = append(failed, &fs.PathError{Op: "read", Path: filepath.Join(d.path, name), Err: err})
			continue
		}
		if all == nil {
			all = map[string]uint64{}
		}
		all[name] = n
	}
	*d.problems = append(*d.problems, combined(failed)...)
	return all
}

// combined returns the first of the errors with each cause, with the number of the other
// files.
func combined(errs []error) []error {
	var first []*fs.PathError
	more := map[string]int{}
	for _, err := range errs {
		var e *fs.PathError
		if !errors.As(err, &e) {
			continue // all errors of files have a path
		}
		if more[e.Err.Error()]++; more[e.Err.Error()] == 1 {
			first = append(first, e)
		}
	}
	var all []error
	for _, e := range first {
		if n := more[e.Err.Error()] - 1; n > 0 {
			e.Path += " and " + plural.Count(n, "other file", "other files")
		}
		all = append(all, e)
	}
	return all
}
