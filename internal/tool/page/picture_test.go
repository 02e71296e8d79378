package page

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/ibkit/ibkit/internal/tool/topology"
)

// TestPage_PictureFails checks that a part of a picture is not kept.
func TestPage_PictureFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, "demo")
		serve := s.picture(pictureForm{write: func(_ *Page, _ *state, _ *topology.Picture, w io.Writer) error {
			_, err := io.WriteString(w, "<svg>")
			return errors.Join(err, errors.New("no layout"))
		}})
		for range 2 {
			reply := httptest.NewRecorder()
			serve(reply, httptest.NewRequest(http.MethodGet, "/picture.svg", nil))
			if reply.Code != http.StatusInternalServerError {
				t.Errorf("got status %d, want %d", reply.Code, http.StatusInternalServerError)
			}
		}
	})
}

// TestPage_Picture checks that a lost node keeps its place, so that the update is small, and that
// a node without a place changes the layout.
func TestPage_Picture(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, "fat-tree:radix=36,pods=36,hosts=18")
		type paint struct {
			Layout string
			Marks  [][]any
		}
		read := func() (p paint) {
			t.Helper()
			text := s.body("/picture.json")
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			if _, err := z.Write([]byte(text)); err != nil || z.Close() != nil || b.Len() > 4000 {
				t.Errorf("got an update with %d compressed bytes for 1,296 links, want at most 3 for each (%v)", b.Len(), err)
			}
			return p
		}
		lost := func(p paint) bool {
			return slices.ContainsFunc(p.Marks, func(m []any) bool { return m[0] == "the last scan has no such link" })
		}
		first := read()
		s.next("unlink host00648[1]")
		if p := read(); p.Layout != first.Layout || !lost(p) {
			t.Errorf("got layout %s with marks %v, want layout %s and a lost link", p.Layout, p.Marks, first.Layout)
		}
		s.pictures.last = nil // as another exporter
		s.next()
		other := read()
		if other.Layout == first.Layout || lost(other) {
			t.Errorf("got layout %s with marks %v, want another layout without the link", other.Layout, other.Marks)
		}
		s.next("link host00648[1] leaf036[18]")
		if p := read(); p.Layout != first.Layout {
			t.Errorf("got layout %s, want %s with all links", p.Layout, first.Layout)
		}
	})
}
