package dump

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/ibkit/ibkit/internal/textfile"
)

// An offsetReader reads lines with their offsets in a file.
type offsetReader struct {
	in     *bufio.Reader
	offset int64 // of the next line
}

func newOffsetReader(in io.Reader, offset int64) *offsetReader {
	return &offsetReader{in: bufio.NewReaderSize(in, textfile.MaxLine), offset: offset}
}

// next returns a line, which is valid until the next call, and its offset. The error is
// io.EOF after the last line, which may lack a line feed.
func (r *offsetReader) next() (line []byte, offset int64, err error) {
	line, err = r.in.ReadSlice('\n')
	offset = r.offset
	r.offset += int64(len(line))
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, offset, &offsetError{offset, "a line is too long: not a dump of forwarding tables"}
	case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
		return line, offset, nil
	}
	return line, offset, err
}
