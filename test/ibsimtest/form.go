package ibsimtest

// A Form selects the source of the results of C tools on fabrics that ibkit serves, and the
// cases of [Share].
type Form int

// The forms of tests.
const (
	Alone    Form = iota // the installed tools
	Live                 // the installed tools, which must print what is recorded of the same version
	Renew                // the installed tools, whose results become the recording
	Recorded             // a recording; no Debian package is necessary, ibkit runs in the process
)

var (
	form    Form
	program Program // ibkit in the form Recorded
)

// Use sets the form of the tests of this process before they run. ibkit runs a command line
// in the process.
func Use(f Form, ibkit Program) { form, program = f, ibkit }
