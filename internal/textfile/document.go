package textfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ibkit/ibkit/internal/lazyregexp"
)

// A Document reads a JSON object that may be damaged, member by member, and the elements of
// its arrays one by one. Lines of other programs may surround it.
type Document struct {
	// Arrays has a function for the elements of an array, by the member's name. Member
	// handles the other members; its error is a failure.
	Arrays map[string]func(index int, element []byte, line int)
	Member func(name string, value []byte) error

	// Fail handles a failure. After a syntax error, the rest of the object is not read.
	Fail func(line int, err error)

	data         []byte
	start        int // offset of the object
	offset, line int // line number of an offset in data
}

// Read reads a file's content.
func (d *Document) Read(data []byte) {
	d.data, d.start, d.offset, d.line = data, ObjectStart(data), 0, 1
	d.foreign(0, d.start)
	in := json.NewDecoder(bytes.NewReader(data[d.start:]))
	err := d.members(in)
	end := d.at(in)
	if err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			end = min(d.start+int(syntax.Offset), len(data))
		} else if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			end, err = len(bytes.TrimRight(data, "\n")), io.ErrUnexpectedEOF
		}
		d.Fail(d.lineAt(max(d.offset, end)), InvalidJSON(err))
		return
	}
	d.foreign(end, len(data))
}

// at returns the decoder's offset in the file.
func (d *Document) at(in *json.Decoder) int { return d.start + int(in.InputOffset()) }

// lineAt returns an offset's line number. Offsets must not descend.
func (d *Document) lineAt(offset int) int {
	d.line += bytes.Count(d.data[d.offset:offset], []byte("\n"))
	d.offset = offset
	return d.line
}

// foreign rejects the lines between two offsets.
func (d *Document) foreign(from, to int) {
	for line := range bytes.Lines(d.data[from:to]) {
		if text := bytes.TrimSpace(line); len(text) > 0 {
			d.Fail(d.lineAt(from), fmt.Errorf("got %s, want only a JSON document", Quote(text)))
		}
		from += len(line)
	}
}

// members reads the object's members. After an error, which is a syntax error, the rest
// cannot be read.
func (d *Document) members(in *json.Decoder) error {
	if token, err := in.Token(); token != json.Delim('{') {
		return cmp.Or(err, errors.New("want an object"))
	}
	for in.More() {
		token, err := in.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if each := d.Arrays[name]; each != nil {
			err = d.elements(in, name, each)
		} else {
			var raw json.RawMessage
			if raw, err = d.value(in); err == nil && d.Member(name, raw) != nil {
				d.Fail(d.lineAt(d.at(in)), fmt.Errorf("%s: got %s", name, Quote([]byte(raw))))
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := in.Token()
	return err
}

// value reads a value. A syntax error has the offset in the object: the decoder's own offset
// counts earlier values only, without the tokens between them.
func (d *Document) value(in *json.Decoder) (raw json.RawMessage, err error) {
	err = in.Decode(&raw)
	if invalid, ok := errors.AsType[*json.SyntaxError](err); ok {
		at := d.at(in)
		exact, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(d.data[at:], &raw))
		if ok && exact.Error() == invalid.Error() { // otherwise in front of the value
			exact.Offset += int64(at - d.start)
			err = exact
		}
	}
	return raw, err
}

// elements reads an array.
func (d *Document) elements(in *json.Decoder, name string, each func(int, []byte, int)) error {
	if token, err := in.Token(); token != json.Delim('[') {
		return cmp.Or(err, fmt.Errorf("%s: want an array", name))
	}
	for i := 0; in.More(); i++ {
		raw, err := d.value(in)
		if err != nil {
			return err
		}
		each(i, raw, d.lineAt(d.at(in)-len(raw)))
	}
	_, err := in.Token()
	return err
}

// objectLine is the first line of a document of ibkit.
var objectLine = lazyregexp.New(`^\{\s*"schema"`)

// ObjectStart returns the offset at which a JSON object begins: the file's beginning, or a
// later line if other lines precede a document of ibkit, and 0 without such a line.
func ObjectStart(data []byte) int {
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return 0
	}
	for at := 0; at < len(data); {
		if data[at] == '{' && objectLine.Match(data[at:min(at+64, len(data))]) {
			return at
		}
		end := bytes.IndexByte(data[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return 0
}
