package fabricfile

import (
	"bytes"

	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// A Kind is a kind of file with the nodes and links of a fabric.
type Kind uint8

// The kinds of files.
const (
	Other       Kind = iota
	Cache            // of libibnetdisc
	JSON             // any document in JSON
	List             // a list of links of opensm or ibdiagnet
	Netdiscover      // the output of ibnetdiscover
	Database         // ibdiagnet2.db_csv
)

// A lineForm is the form of a line that identifies a kind of file. The prefixes, one of
// which begins each such line, make the search in a large file fast.
type lineForm struct {
	prefixes []string
	form     *lazyregexp.Regexp
}

var (
	netdiscoverLine = lineForm{[]string{"Switch", "Ca", "Rt"}, lazyregexp.New(`^(?:Switch|Ca|Rt)\s+\d+\s+"[SHR]-[0-9a-f]+"`)}
	listLine        = lineForm{[]string{"{"}, lazyregexp.New(`^\{\s+\S+\s+Ports:`)}
	databaseLine    = lineForm{[]string{"START_"}, lazyregexp.New(`^START_(?:NODES|LINKS)\r?$`)}
	cacheMagic      = []byte{0x2b, 0x83, 0xe7, 0x8f}
)

// in reports whether a line of a text has the form.
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

// KindOf returns the kind of a file by its content.
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
	}
	return Other
}
