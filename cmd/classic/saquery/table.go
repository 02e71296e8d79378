package saquery

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/mad"
	"github.com/ibkit/ibkit/umad"
)

// get requests records. An error has been printed and has the C tool's exit code.
func (q *query) get(match mad.Attribute, mask mad.ComponentMask, modifier uint32) (*umad.Table, error) {
	table, err := q.client.GetTable(q.ctx, &umad.TableRequest{
		To: q.sa, Match: match, Mask: mask, Modifier: modifier, SMKey: q.smKey,
	})
	return table, q.failure(err)
}

// failure prints a query error and returns the C tool's exit code: the
// system error number.
func (q *query) failure(err error) error {
	if err == nil {
		return nil
	}
	_ = q.out.Flush() // the next flush returns the error
	var status mad.StatusError
	code := syscall.EIO
	switch {
	case errors.As(err, &status):
		fmt.Fprintf(q.Env.ErrOut, "ERROR: Query result returned 0x%04x, %s\n", uint16(status), statusText(mad.Status(status)))
	case errors.Is(err, umad.ErrTimeout):
		code = syscall.ETIMEDOUT
		fmt.Fprintln(q.Env.ErrOut, "Query SA failed: Connection timed out")
	default:
		fmt.Fprintf(q.Env.ErrOut, "Query SA failed: %v\n", err)
	}
	return &cmdutil.ExitError{Code: int(code)}
}

// classErrors are the subnet administration code names (ibdiag_sa.c).
var classErrors = []string{
	"SA_NO_ERROR", "SA_ERR_NO_RESOURCES", "SA_ERR_REQ_INVALID", "SA_ERR_NO_RECORDS", "SA_ERR_TOO_MANY_RECORDS",
	"SA_ERR_REQ_INVALID_GID", "SA_ERR_REQ_INSUFFICIENT_COMPONENTS", "SA_ERR_REQ_DENIED", "SA_ERR_STATUS_PRIO_SUGGESTED",
	"SA_ERR_UNKNOWN",
}

// commonErrors are the names for codes that all classes share.
var commonErrors = []string{
	"MAD No invalid fields", "MAD Bad version", "MAD Method specified is not supported",
	"MAD Method/Attribute combination is not supported", "MAD Reserved", "MAD Reserved", "MAD Reserved",
	"MAD Invalid value in Attribute field(s) or Attribute Modifier", "MAD UNKNOWN ERROR",
}

func nameOf(names []string, code int) string { return names[min(code, len(names)-1)] }

// statusText returns the texts for both status bytes.
func statusText(s mad.Status) string {
	text := ""
	if common := int(s & 0xff); common != 0 {
		busy, redirect := "", ""
		if s&mad.StatusBusy != 0 {
			busy = "BUSY"
		}
		if s&mad.StatusRedirect != 0 {
			redirect = "Redirection Required"
		}
		text = fmt.Sprintf(" (%s; %s; %s)", busy, redirect, nameOf(commonErrors, common>>2))
	}
	if class := int(s >> 8); class != 0 {
		text += fmt.Sprintf(" SA(%s)", nameOf(classErrors, class))
	}
	return text
}

// A printer prints a record. raw has its bytes, with reserved fields.
type printer[R mad.Attribute] func(q *query, record R, raw []byte) error

// printAll requests records and prints them.
func (q *query) printAll(match *mad.MCMemberRecord, mask mad.ComponentMask, print printer[*mad.MCMemberRecord]) error {
	return printRecords(q, match, mask, 0, print)
}

// printRecords requests the records that match and prints them.
func printRecords[T any, R interface {
	*T
	mad.Attribute
}](q *query, match R, mask mad.ComponentMask, modifier uint32, print printer[R]) error {
	table, err := q.get(match, mask, modifier)
	if err != nil {
		return err
	}
	var record T
	for i := range table.Len() {
		if err := table.Record(i, R(&record)); err != nil {
			return err
		}
		if err := print(q, &record, table.Raw(i)); err != nil {
			return err
		}
	}
	return nil
}

// readClassPortInfo requests subnet administration's capabilities.
func (q *query) readClassPortInfo() error {
	return q.failure(q.client.Get(q.ctx, q.sa, &q.cpi, umad.InClass(mad.ClassSA), umad.Key(q.smKey)))
}
