package ibsimtest

// A Form selects the source for C tool results on fabrics that ibkit serves, and the cases
// that [Share] returns.
type Form int

// The test forms.
const (
	Alone    Form = iota // the installed tools
	Live                 // the installed tools, which must print the recorded output for the same version
	Renew                // the installed tools, with results that become the recording
	Recorded             // a recording; no Debian package is necessary, ibkit runs in the process
)

var (
	form    Form
	program Program // ibkit in the form Recorded
)

// Use sets the form for all tests in this process before they run. ibkit runs a command
// line in the process.
func Use(f Form, ibkit Program) { form, program = f, ibkit }
