package uapi

import (
	"go/ast"
	"go/build"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A structure is a declaration of this package, with its name in C.
type structure struct {
	name   string
	c      string // "ib_user_mad_hdr", or "rxe_send_wr.wr.rdma" for a part
	isHead bool   // of a longer structure in C
	size   int64
	fields []field
}

// A field is a field of a structure. c is its path in C, with commas between the members
// that it contains, or "".
type field struct {
	name, c      string
	offset, size int64
}

// A number is a constant of this package. c is its name in C, a structure if it is its size,
// or "".
type number struct {
	name, c string
	value   uint64
}

// declarations are in this package.
type declarations struct {
	structures []structure
	numbers    []number
}

var (
	// structDoc matches the doc comment of a structure, for example "X is struct y." or
	// "X is wr.rdma of struct y."
	structDoc = regexp.MustCompile(`^\w+ is (the head of )?(?:([a-z_.]+) of )?struct (\w+)(?: and struct (\w+))?`)

	constantName = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)+\b`)
	sizeDoc      = regexp.MustCompile(`is the size of struct (\w+)`)
)

// readSource type-checks this package, with sizes and offsets for 64-bit processors.
func readSource(t *testing.T) (d declarations) {
	t.Helper()
	fset, sizes := token.NewFileSet(), types.SizesFor("gc", "amd64")
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, e := range entries {
		if ok, err := build.Default.MatchFile(".", e.Name()); err != nil || !ok || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Defs: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{Importer: stubs{}, Sizes: sizes}).Check("uapi", fset, files, info); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		for _, decl := range f.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					d.addType(s.Name.Name, g.Doc.Text(), info.Defs[s.Name].Type(), sizes)
				case *ast.ValueSpec:
					d.addValue(s, g, info)
				}
			}
		}
	}
	return d
}

// addType adds a structure, or two if it is declared once for two.
func (d *declarations) addType(name, doc string, typ types.Type, sizes types.Sizes) {
	m := structDoc.FindStringSubmatch(strings.ReplaceAll(doc, "\n", " "))
	st, ok := typ.Underlying().(*types.Struct)
	switch {
	case m == nil && ok:
		d.structures = append(d.structures, structure{name: name})
		return
	case m == nil:
		return
	}
	s := structure{name: name, c: m[3], isHead: m[1] != "", size: sizes.Sizeof(typ)}
	if m[2] != "" {
		s.c += "." + m[2]
	}
	if ok {
		s.fields = fieldsOf(st, sizes)
	}
	d.structures = append(d.structures, s)
	if m[4] != "" {
		s.c = m[4]
		d.structures = append(d.structures, s)
	}
}

// fieldsOf returns the named fields, in place of an embedded structure its fields.
func fieldsOf(st *types.Struct, sizes types.Sizes) (all []field) {
	var vars []*types.Var
	for v := range st.Fields() {
		vars = append(vars, v)
	}
	offsets := sizes.Offsetsof(vars)
	for i, v := range vars {
		switch inner, ok := v.Type().Underlying().(*types.Struct); {
		case v.Embedded() && ok:
			for _, f := range fieldsOf(inner, sizes) {
				f.offset += offsets[i]
				all = append(all, f)
			}
		case v.Name() != "_":
			c := reflect.StructTag(st.Tag(i)).Get("c")
			all = append(all, field{v.Name(), c, offsets[i], sizes.Sizeof(v.Type())})
		}
	}
	return all
}

// addValue adds a constant.
func (d *declarations) addValue(s *ast.ValueSpec, g *ast.GenDecl, info *types.Info) {
	doc := s.Comment.Text() + s.Doc.Text()
	if len(g.Specs) == 1 {
		doc += g.Doc.Text()
	}
	c := constantName.FindString(doc)
	if m := sizeDoc.FindStringSubmatch(doc); m != nil {
		c = m[1]
	}
	for _, name := range s.Names {
		if n, ok := info.Defs[name].(*types.Const); ok {
			if v, ok := constant.Uint64Val(constant.ToInt(n.Val())); ok {
				d.numbers = append(d.numbers, number{name.Name, c, v})
			}
		}
	}
}

// stubs are the packages that this package imports.
type stubs struct{}

func (stubs) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p := types.NewPackage(path, path)
	name := types.NewTypeName(token.NoPos, p, "HostLayout", nil)
	types.NewNamed(name, types.NewStruct(nil, nil), nil)
	p.Scope().Insert(name)
	p.MarkComplete()
	return p, nil
}

// A member is a structure's member, or with offset 0 the structure itself.
type member struct{ offset, size int64 }

// headers are the members by their paths and the constants of C headers.
type headers struct {
	members map[string]member
	numbers map[string]uint64
}

// readHeaders reads files with lines "ib_user_mad_hdr.lid 28 2" (offset and size) and
// "IB_USER_MAD_ABI_VERSION 5". Later files count.
func readHeaders(t *testing.T, files ...string) headers {
	t.Helper()
	h := headers{map[string]member{}, map[string]uint64{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			var n [2]uint64
			for i, w := range words[1:] {
				if n[i], err = strconv.ParseUint(w, 10, 64); err != nil {
					t.Fatal(err)
				}
			}
			if len(words) == 3 {
				h.members[words[0]] = member{int64(n[0]), int64(n[1])}
			} else {
				h.numbers[words[0]] = n[0]
			}
		}
	}
	return h
}
