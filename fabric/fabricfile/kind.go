package fabricfile

import (
	"bytes"

	"github.com/ibkit/ibkit/internal/lazyregexp"
	"github.com/ibkit/ibkit/internal/textfile"
)

// A Kind is a kind of file with a fabric's nodes and links.
type Kind uint8

// The file kinds.
const (
	Other       Kind = iota
	Cache            // libibnetdisc cache
	JSON             // any document in JSON
	List             // a link list from opensm or ibdiagnet
	Netdiscover      // ibnetdiscover output
	Database         // ibdiagnet2.db_csv
	PortList         // ibnetdiscover -p output
)

// A lineForm is a line form that identifies a file kind. The prefixes (each such line
// begins with a prefix) make the search in a large file fast.
type lineForm struct {
	prefixes []string
	form     *lazyregexp.Regexp
}

var (
	netdiscoverLine = lineForm{[]string{"Switch", "Ca", "Rt"}, lazyregexp.New(`^(?:Switch|Ca|Rt)\s+\d+\s+"[SHR]-[0-9a-f]+"`)}
	listLine        = lineForm{[]string{"{"}, lazyregexp.New(`^\{\s+\S+\s+Ports:`)}
	databaseLine    = lineForm{[]string{"START_"}, lazyregexp.New(`^START_(?:NODES|LINKS)\r?$`)}
	portListLine    = lineForm{[]string{"CA", "SW", "RT"}, lazyregexp.New(`^(?:CA|SW|RT)\s+\d+\s+\d+\s+0x[0-9a-f]{16}\s`)}
	cacheMagic      = []byte{0x2b, 0x83, 0xe7, 0x8f}
)

// in reports whether a line in a text has the form.
func (l lineForm) in(text []byte) bool {
	for _, prefix := range l.prefixes {
		for rest := text; ; {
			i := bytes.Index(rest, []byte(prefix))
			if i < 0 {
				break
			}
			line, after, _ := bytes.Cut(rest[i:], []byte("\n"))
			if (i == 0 || rest[i-1] == '\n') && l.form.Match(line) {
				return true
			}
			rest = after
		}
	}
	return false
}

// KindOf returns a file's kind by its content.
func KindOf(data []byte) Kind {
	text := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case bytes.HasPrefix(data, cacheMagic):
		return Cache
	case bytes.IndexByte(data, 0) >= 0:
		return Other
	case listLine.in(data):
		return List
	case bytes.HasPrefix(text, []byte("{")):
		return JSON
	case netdiscoverLine.in(data):
		return Netdiscover
	case databaseLine.in(data):
		return Database
	case portListLine.in(data):
		return PortList
	case textfile.ObjectStart(data) > 0:
		return JSON
	}
	return Other
}
