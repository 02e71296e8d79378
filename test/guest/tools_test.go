//go:build guest

package guest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ibkit/ibkit/test/debian"
)

// TestAddPrograms compares the libraries of programs with the list that the dynamic linker
// prints.
func TestAddPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ip", "ibv_devinfo", "ib_send_lat", "iblinkinfo"} {
		t.Run(name, func(t *testing.T) {
			im := newImage()
			if err := (programs{im, "/"}).addPrograms([]string{name}); err != nil {
				t.Fatal(err)
			}
			path, err := debian.LookProgram("/", name)
			if err != nil {
				t.Fatal(err)
			}
			text, err := debian.Output(t.Context(), "ldd", path)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, word := range strings.Fields(text) {
				if filepath.IsAbs(word) {
					want = append(want, word)
				}
			}
			missing := slices.DeleteFunc(want, im.has)
			if len(want) == 0 || len(missing) > 0 {
				t.Errorf("got no %q, want all in\n%s", missing, text)
			}
		})
	}
}
