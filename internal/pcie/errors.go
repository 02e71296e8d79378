package pcie

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/internal/sysfs"
)

// AER has the totals of Advanced Error Reporting since the driver core found the function.
type AER struct {
	Correctable uint64 `json:"correctable"` // aer_dev_correctable
	NonFatal    uint64 `json:"nonfatal"`    // aer_dev_nonfatal
	Fatal       uint64 `json:"fatal"`       // aer_dev_fatal
}

// Since returns the increases since an earlier reading.
func (a AER) Since(before AER) AER {
	return AER{a.Correctable - before.Correctable, a.NonFatal - before.NonFatal, a.Fatal - before.Fatal}
}

func (a AER) String() string {
	return fmt.Sprintf("%d correctable, %d non-fatal, %d fatal", a.Correctable, a.NonFatal, a.Fatal)
}

// ReadAER reads the totals of a function from its directory; nil if it does not report errors.
func ReadAER(d sysfs.Dir) *AER {
	correctable := total(d.Text("aer_dev_correctable"))
	if correctable == nil {
		return nil
	}
	a := &AER{Correctable: *correctable}
	for file, n := range map[string]*uint64{"aer_dev_nonfatal": &a.NonFatal, "aer_dev_fatal": &a.Fatal} {
		if v := total(d.Text(file)); v != nil {
			*n = *v
		}
	}
	return a
}

// total returns the number after TOTAL_ERR_COR, TOTAL_ERR_NONFATAL or TOTAL_ERR_FATAL.
func total(text *string) *uint64 {
	if text == nil {
		return nil
	}
	for line := range strings.Lines(*text) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(number, 10, 64); err == nil && strings.HasPrefix(name, "TOTAL_ERR_") {
			return &n
		}
	}
	return nil
}

// memoryResource is the flag of memory in a resource (IORESOURCE_MEM).
const memoryResource = 0x200

// bars is the count of base address registers; the resources of the ROM and of bridges follow.
const bars = 6

// largestBAR returns the size of the largest memory region of a function, from its file
// resource; 0 without a region.
func largestBAR(text *string) uint64 {
	if text == nil {
		return 0
	}
	var largest uint64
	for i, line := range strings.Split(*text, "\n") {
		var start, end, flags uint64
		if _, err := fmt.Sscanf(line, "0x%x 0x%x 0x%x", &start, &end, &flags); err == nil && i < bars && flags&memoryResource != 0 && end > start {
			largest = max(largest, end-start+1)
		}
	}
	return largest
}
