package netfile

import (
	"bufio"
	"bytes"
	"strings"
)

// CheckText checks that the first line other than comments begins as in net files and
// topology files.
func CheckText(start []byte, name string) error {
	lines := bufio.NewScanner(bytes.NewReader(start))
	lines.Buffer(nil, len(start)+1)
	for number := 1; lines.Scan(); number++ {
		l := &Line{File: name, Number: number, Text: lines.Text()}
		if l.Blanks(); l.Rest() == "" || l.Rest()[0] == '#' {
			continue
		}
		if lineReader(l.Run(IsLetter)) == nil {
			l.At = 0
			return l.Expected("a net file of ibsim, or the output of ibnetdiscover or of ibkit linkinfo --json --attributes")
		}
		break
	}
	return nil
}

// IsTopology distinguishes the two text formats, which have the same grammar: in ibnetdiscover
// output, the comment on each link has the width and speed, and no link has options.
func IsTopology(text []byte) bool {
	links := 0
	for line := range strings.Lines(string(text)) {
		if line[0] != '[' {
			continue
		}
		links++
		l := &Line{Text: strings.TrimRight(line, "\r\n")}
		if !l.hasRunning() {
			return false
		}
	}
	return links > 0
}

// hasRunning reports whether a port line names no options and has the link's width and
// speed in the comment.
func (l *Line) hasRunning() bool {
	var p Port
	var n reader
	if _, err := l.Bracketed(); err != nil || l.external() != nil {
		return false
	}
	if _, err := l.guid(); err != nil {
		return false
	}
	if l.Blanks(); n.remote(l, &p) != nil {
		return false
	}
	if l.Blanks(); l.Rest() == "" || l.Rest()[0] != '#' {
		return false
	}
	comment := l.comment()
	_, known := parseRate(comment[strings.LastIndexByte(comment, '"')+1:])
	return known
}
