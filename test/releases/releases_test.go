package releases

import (
	"strings"
	"testing"
)

func TestUpgrade(t *testing.T) {
	const (
		usage44 = "  --m_key, -y <key>       M_Key to use in request\n  --errors, -e            show send and receive errors\n  --verbose, -v           increase verbosity level\n  --debug, -d             raise debug level\n  --help, -h              help message\n"
		usage65 = "  --m_key, -y <key>       M_Key to use in request\n  --pkey-idx, -Y <idx>    P_Key table index for outgoing SA/GMP MADs \n                          (default 0)\n" +
			"  --errors, -e            show send and receive errors\n  --verbose, -v           increase verbosity level\n  --debug, -d             raise debug level\n  --help, -h              help message\n"
		stat44 = "  --config, -z <config>   use config file\n  --verbose, -v           increase verbosity level\n  --debug, -d             raise debug level\n  --help, -h              help message\n"
		stat65 = "  --config, -z <config>   use config file\n  --pkey-idx, -Y <idx>    P_Key table index for outgoing SA/GMP MADs \n                          (default 0)\n" +
			"  --verbose, -v           increase verbosity level\n  --debug, -d             raise debug level\n  --help, -h              help message\n"
		record44 = "\t\tLinkSpeedExtEnabled:.............0\nPortInfoRecord dump:\n"
		record65 = "\t\tLinkSpeedExtEnabled:.............0\n\t\tLinkSpeedExtActive2:.............No Extended Speed 2\n" +
			"\t\tLinkSpeedExtSupported2:..........0\n\t\tLinkSpeedExtEnabled2:............0\nPortInfoRecord dump:\n"
	)
	for _, test := range []struct{ name, program, old, new string }{
		{"usage", "smpquery", usage44, usage65},
		{"usage without --errors", "ibstat", stat44, stat65},
		{"usage without --debug", "iblinkinfo", withoutDebug(usage44), withoutDebug(usage65)},
		{"newer usage", "smpquery", usage65, usage65},
		{"usage of another program", "ibsendtrap", usage44, usage44},
		{"record", "saquery", record44, record65},
		{"newer record", "saquery", record65, record65},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Upgrade(test.program, test.old); got != test.new {
				t.Errorf("got %q\nwant %q", got, test.new)
			}
		})
	}
}

func TestCommon(t *testing.T) {
	const (
		old = "LinkSpeedExtActive:..............No Extended Speed\nMkey:............................<not displayed>\n"
		new = "LinkSpeedExtActive:..............No Extended Speed\nLinkSpeedExtSupported2:..........212.5 Gbps\nLinkSpeedExtEnabled2:............212.5 Gbps\n" +
			"LinkSpeedExtActive2:.............212.5 Gbps\nMkey:............................<not displayed>\n"
	)
	for _, output := range []string{old, new} {
		if got := Common("ibportstate", output); got != old {
			t.Errorf("got %q, want %q", got, old)
		}
	}
	if got := Common("smpquery", new); got != new {
		t.Errorf("smpquery: got %q, want %q", got, new)
	}
}

// withoutDebug returns a usage text of a program without this option.
func withoutDebug(usage string) string {
	return strings.Replace(usage, "  --debug, -d             raise debug level\n", "", 1)
}
