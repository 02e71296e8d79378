package check

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ibkit/ibkit/devinfo"
	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/yamlfile"
)

// ManifestSchema is the value for the key schema in files for [ReadManifest].
const ManifestSchema = "ibkit/check-node/1"

// A Manifest describes the devices that a node is to have. Values that are absent are not
// checked. Texts are patterns for [path.Match], so that a manifest may apply to many nodes.
type Manifest struct {
	Devices []ExpectedDevice
	Ignore  []string // name patterns for devices that are not checked
}

// An ExpectedDevice is a device in a [Manifest].
type ExpectedDevice struct {
	Name      string // exact
	Type      string // hca_type
	Board     string // board_id
	Firmware  string // fw_ver
	PCIeWidth uint64 // lane count, at least
	PCIeSpeed float64
	Ports     []ExpectedPort
}

// An ExpectedPort is a port on an [ExpectedDevice].
type ExpectedPort struct {
	Number    int
	LinkLayer string
	State     string  // for example "ACTIVE"
	Rate      float64 // 10^9 bits per second, at least
	Width     ib.LinkWidth
	Speed     ib.Speed
	Netdev    string
	GIDs      []string // GID kinds from gidKind
}

// ErrEmptyManifest is the error for a manifest without devices, with which every check on a
// host without devices would pass.
var ErrEmptyManifest = errors.New("got no devices, want at least one")

// ReadManifest reads a manifest from a YAML or JSON file. Errors in its content have type
// [*textfile.Error]; without devices it is [ErrEmptyManifest].
func ReadManifest(file string) (*Manifest, error) {
	data, err := yamlfile.Read(file)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	return ParseManifest(data, file)
}

// ParseManifest is [ReadManifest] for a file's content.
func ParseManifest(data []byte, file string) (*Manifest, error) {
	d := document{yamlfile.File(file)}
	root, err := d.Root(data)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	err = d.Mapping(root, "manifest", map[string]yamlfile.Field{
		"schema": d.Schema(ManifestSchema),
		"ignore": func(n *yaml.Node) error { return d.patterns(n, "ignore", &m.Ignore) },
		"devices": func(n *yaml.Node) error {
			return d.Entries(n, "devices", func(name string, _, value *yaml.Node) error {
				e := ExpectedDevice{Name: name}
				err := d.device(value, &e)
				m.Devices = append(m.Devices, e)
				return err
			})
		},
	})
	if err == nil && len(m.Devices) == 0 {
		err = d.Errorf(root, "manifest: %w", ErrEmptyManifest)
	}
	if err != nil {
		return nil, err
	}
	return m, nil
}

// patterns reads a pattern list.
func (d document) patterns(n *yaml.Node, what string, to *[]string) error {
	return d.List(n, what, func(n *yaml.Node) error {
		var text string
		err := yamlfile.Parsed(d.File, what, &text, parsePattern)(n)
		*to = append(*to, text)
		return err
	})
}

// parsePattern checks a pattern.
func parsePattern(s string) (string, error) {
	if _, err := path.Match(s, ""); err != nil {
		return "", errors.New("want a pattern with balanced brackets")
	}
	return s, nil
}

// device reads an expected device.
func (d document) device(n *yaml.Node, e *ExpectedDevice) error {
	return d.Mapping(n, "device "+e.Name, map[string]yamlfile.Field{
		"type":       yamlfile.Parsed(d.File, "type", &e.Type, parsePattern),
		"board":      yamlfile.Parsed(d.File, "board", &e.Board, parsePattern),
		"firmware":   yamlfile.Parsed(d.File, "firmware", &e.Firmware, parsePattern),
		"pcie_width": yamlfile.Parsed(d.File, "pcie_width", &e.PCIeWidth, yamlfile.ParseCount),
		"pcie_speed": yamlfile.Parsed(d.File, "pcie_speed", &e.PCIeSpeed, yamlfile.ParsePositive),
		"ports": func(n *yaml.Node) error {
			return d.Entries(n, "ports", func(key string, k, value *yaml.Node) error {
				number, err := strconv.ParseUint(key, 10, 8)
				if err != nil || number == 0 {
					return d.Errorf(k, "ports: got %q, want a number from 1 to 255", key)
				}
				p := ExpectedPort{Number: int(number)}
				err = d.port(value, &p)
				e.Ports = append(e.Ports, p)
				return err
			})
		},
	})
}

// port reads an expected port.
func (d document) port(n *yaml.Node, p *ExpectedPort) error {
	return d.Mapping(n, fmt.Sprintf("port %d", p.Number), map[string]yamlfile.Field{
		"link_layer": yamlfile.Parsed(d.File, "link_layer", &p.LinkLayer, parsePattern),
		"state":      yamlfile.Parsed(d.File, "state", &p.State, parsePattern),
		"rate":       yamlfile.Parsed(d.File, "rate", &p.Rate, yamlfile.ParsePositive),
		"width":      yamlfile.Parsed(d.File, "width", &p.Width, parseWidth),
		"speed":      yamlfile.Parsed(d.File, "speed", &p.Speed, parseSpeed),
		"netdev":     yamlfile.Parsed(d.File, "netdev", &p.Netdev, parsePattern),
		"gids": func(n *yaml.Node) error {
			return d.List(n, "gids", func(n *yaml.Node) error {
				var kind string
				err := d.Text(n, "gids", &kind)
				p.GIDs = append(p.GIDs, kind)
				return err
			})
		},
	})
}

// ManifestOf returns the manifest for devices as they are. Ports that are not active have
// no rate.
func ManifestOf(devices []*devinfo.Device, ignore []string) *Manifest {
	m := &Manifest{Ignore: ignore}
	for _, d := range devices {
		if ignored(ignore, d.Name) {
			continue
		}
		e := ExpectedDevice{Name: d.Name, Type: literal(d.HCAType), Board: literal(d.BoardID), Firmware: literal(d.Firmware)}
		if d.PCI != nil && d.PCI.Width != nil {
			e.PCIeWidth, e.PCIeSpeed = uint64(max(*d.PCI.Width, 0)), pcieSpeed(d.PCI.Speed)
		}
		for _, p := range d.Ports {
			x := ExpectedPort{Number: p.Number, LinkLayer: literal(p.LinkLayer), Netdev: literal(p.Netdev), GIDs: gidKinds(p)}
			if p.State != nil {
				x.State = stateName(p)
			}
			if p.Active() && p.Rate != nil {
				x.Rate, x.Width, x.Speed = parseRate(*p.Rate)
			}
			e.Ports = append(e.Ports, x)
		}
		m.Devices = append(m.Devices, e)
	}
	return m
}

// literal returns a pattern for a text, "" for an unknown one.
func literal(s *string) string {
	if s == nil {
		return ""
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(*s)
}

// stateName returns a port's state, for example "ACTIVE".
func stateName(p *devinfo.Port) string {
	return strings.ToUpper(p.State.String())
}

// parseRate parses the sysfs attribute rate, for example "400 Gb/sec (4X NDR)".
func parseRate(s string) (gbps float64, width ib.LinkWidth, speed ib.Speed) {
	number, rest, _ := strings.Cut(s, " ")
	gbps, err := strconv.ParseFloat(number, 64)
	if err != nil || !(gbps > 0 && gbps < 1e9) {
		return 0, 0, 0
	}
	_, rest, _ = strings.Cut(rest, "(")
	names, _, _ := strings.Cut(rest, ")")
	for name := range strings.FieldsSeq(names) {
		if w, err := parseWidth(name); err == nil && width == 0 {
			width = w
		}
		if v, err := parseSpeed(name); err == nil && speed == 0 {
			speed = v
		}
	}
	return gbps, width, speed
}

// pcieSpeed parses a speed such as "16.0 GT/s PCIe", 0 if it is unknown.
func pcieSpeed(s *string) float64 {
	if s == nil {
		return 0
	}
	number, _, _ := strings.Cut(*s, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0 && v < 1e6) {
		return 0
	}
	return v
}

// gidKinds returns a port's GID kinds, for example "RoCE v2 IPv4". They do not contain
// addresses, so that a manifest applies to many nodes.
func gidKinds(p *devinfo.Port) []string {
	var kinds []string
	for _, g := range p.GIDs {
		kind := "IB"
		if g.Type != nil && p.Ethernet() {
			kind = strings.TrimPrefix(*g.Type, "IB/")
		}
		switch {
		case !p.Ethernet():
		case g.GID.Is4In6():
			kind += " IPv4"
		case g.GID.IsLinkLocalUnicast():
			kind += " link-local"
		default:
			kind += " IPv6"
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// ignored reports whether a pattern matches a device's name.
func ignored(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// matches reports whether a valid pattern matches a text.
func matches(pattern, text string) bool {
	ok, err := path.Match(pattern, text)
	return err == nil && ok
}

// Write writes the manifest as a YAML file for [ReadManifest]. Without devices it writes nothing
// and returns [ErrEmptyManifest].
func (m *Manifest) Write(w io.Writer) error {
	if len(m.Devices) == 0 {
		return ErrEmptyManifest
	}
	root := &mapping{}
	root.add("schema", ManifestSchema, true)
	devices := &mapping{}
	for _, d := range m.Devices {
		e := &mapping{}
		e.add("type", d.Type, d.Type != "")
		e.add("board", d.Board, d.Board != "")
		e.add("firmware", d.Firmware, d.Firmware != "")
		e.add("pcie_width", d.PCIeWidth, d.PCIeWidth != 0)
		e.add("pcie_speed", d.PCIeSpeed, d.PCIeSpeed != 0)
		ports := &mapping{}
		for _, p := range d.Ports {
			x := &mapping{}
			x.add("link_layer", p.LinkLayer, p.LinkLayer != "")
			x.add("state", p.State, p.State != "")
			x.add("rate", p.Rate, p.Rate != 0)
			x.add("width", p.Width.String(), p.Width != 0)
			x.add("speed", p.Speed.String(), p.Speed != 0)
			x.add("netdev", p.Netdev, p.Netdev != "")
			x.add("gids", p.GIDs, len(p.GIDs) > 0)
			ports.add(strconv.Itoa(p.Number), &x.Node, true)
		}
		e.add("ports", &ports.Node, len(d.Ports) > 0)
		devices.add(d.Name, &e.Node, true)
	}
	root.add("devices", &devices.Node, true)
	root.add("ignore", m.Ignore, len(m.Ignore) > 0)
	return writeYAML(w, &root.Node)
}

// ValidatePatterns returns an error for a malformed pattern.
func ValidatePatterns(patterns []string) error {
	for _, p := range patterns {
		if _, err := parsePattern(p); err != nil {
			return fmt.Errorf("pattern %q: %w", p, err)
		}
	}
	return nil
}
