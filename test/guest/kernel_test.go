package guest

import "testing"

func TestParseMetaPackage(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want kernelPackage
	}{
		"Debian 12": {
			"Package: linux-image-amd64\nVersion: 6.1.192-2\nDepends: linux-image-6.1.0-56-amd64 (= 6.1.192-2)\n",
			kernelPackage{"linux-image-6.1.0-56-amd64", "6.1.192-2", "6.1.0-56-amd64"},
		},
		"Debian 13": {
			"Package: linux-image-amd64\nDepends: linux-image-6.12.48+deb13-amd64 (= 6.12.48-1)\n",
			kernelPackage{"linux-image-6.12.48+deb13-amd64", "6.12.48-1", "6.12.48+deb13-amd64"},
		},
		"second dependency": {
			"Depends: base-files, linux-image-6.1.0-1-amd64 (= 6.1.1-1), kmod\n",
			kernelPackage{"linux-image-6.1.0-1-amd64", "6.1.1-1", "6.1.0-1-amd64"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseMetaPackage(c.text)
			if err != nil || got != c.want {
				t.Errorf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
	if p, err := parseMetaPackage("Package: linux-image-amd64\n"); err == nil {
		t.Errorf("got %+v of a package without dependencies", p)
	}
}
