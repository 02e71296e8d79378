package cmdutil

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// CutLocalPort splits the value of a device flag that has the form DEVICE/NUMBER, in which
// ports of this host are printed, and replaces the values of both flags.
func CutLocalPort(flags *pflag.FlagSet, deviceFlag, portFlag string, device *string, port *uint8) error {
	name, digits, ok := strings.Cut(*device, "/")
	if !ok {
		return nil
	}
	number, err := strconv.ParseUint(digits, 10, 8)
	switch {
	case err != nil || number == 0 || name == "":
		return UsageErrorf("invalid %s %q: want DEVICE or DEVICE/NUMBER", FlagName(flags, deviceFlag), *device)
	case flags.Changed(portFlag) && uint8(number) != *port:
		return UsageErrorf("%s %s and %s %d are mutually exclusive", FlagName(flags, deviceFlag), *device, FlagName(flags, portFlag), *port)
	}
	*device, *port = name, uint8(number)
	return nil
}
