package verbs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/sysfs"
	"github.com/ibkit/ibkit/internal/testenv"
)

// Queues are not used for a driver interface with another version.
func TestCheckABI(t *testing.T) {
	for _, test := range []struct {
		driver  DriverID
		version int // 0: the kernel reports none
		known   bool
	}{
		{DriverMLX5, 1, true}, {DriverMLX5, 2, false}, {DriverMLX5, 0, true}, {DriverRXE, 1, true}, {DriverRXE, 2, true}, {DriverRXE, 3, false},
	} {
		t.Run(fmt.Sprintf("%v %d", test.driver, test.version), func(t *testing.T) {
			files := map[string]string{}
			if test.version > 0 {
				files["class/infiniband_verbs/uverbs7/abi_version"] = fmt.Sprint(test.version)
			}
			err := checkABI(sysfs.FS(testenv.WriteTree(t, files)), test.driver, "/dev/infiniband/uverbs7")
			if test.known && err == nil {
				return
			}
			if test.known || !errors.Is(err, ErrNoProvider) || !strings.Contains(err.Error(), fmt.Sprintf("version %d of the interface of %v", test.version, test.driver)) {
				t.Errorf("got error %v", err)
			}
		})
	}
}
