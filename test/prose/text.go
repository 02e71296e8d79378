package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A kind is a text category with separate limits.
type kind string

const (
	comments     kind = "comments"
	testComments kind = "test comments"
	documents    kind = "documents"
	printed      kind = "strings"
	schemas      kind = "schemas"
)

// A text is a line or a paragraph of prose and its place.
type text struct {
	kind kind
	file string
	line int
	body string
}

// readTexts collects the prose below directories and in files: comments in Go files, string
// literals in commands, documents, manual page sources, and the descriptions in JSON schemas.
func readTexts(roots ...string) ([]text, error) {
	var texts []text
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				switch d.Name() {
				case ".git", "build", "testdata", "prose":
					if path != root {
						return filepath.SkipDir
					}
				}
				return nil
			}
			found, err := readFile(path)
			texts = append(texts, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

func readFile(path string) ([]text, error) {
	switch filepath.Ext(path) {
	case ".go":
		return readGo(path)
	case ".md", ".man":
		data, err := os.ReadFile(path)
		return readDocument(path, string(data)), err
	case ".json":
		if filepath.Base(filepath.Dir(path)) != "schema" {
			return nil, nil
		}
		data, err := os.ReadFile(path)
		return readSchema(path, string(data)), err
	}
	return nil, nil
}

var description = regexp.MustCompile(`"description": ("(?:[^"\\]|\\.)*")`)

// readSchema returns the descriptions in a JSON schema that has each on a separate line.
func readSchema(path, data string) []text {
	var texts []text
	for i, line := range strings.Split(data, "\n") {
		for _, m := range description.FindAllStringSubmatch(line, -1) {
			if s, err := strconv.Unquote(m[1]); err == nil {
				texts = append(texts, text{schemas, path, i + 1, s})
			}
		}
	}
	return texts
}

// readDocument returns the lines of a document that are not code.
func readDocument(path, data string) []text {
	var texts []text
	code := false
	for i, line := range strings.Split(data, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		if !code {
			texts = append(texts, text{documents, path, i + 1, line})
		}
	}
	return texts
}

func readGo(path string) ([]text, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	k := comments
	if strings.HasSuffix(path, "_test.go") {
		k = testComments
	}
	var texts []text
	for _, group := range file.Comments {
		start := files.Position(group.Pos()).Line
		for i, line := range strings.Split(group.Text(), "\n") {
			texts = append(texts, text{k, path, start + i, line})
		}
	}
	if k == testComments || !inProduct(path) {
		return texts, nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			// A text has blanks; a single word is a key, a name or a format.
			if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.Contains(strings.TrimSpace(s), " ") {
				texts = append(texts, text{printed, path, files.Position(n.Pos()).Line, s})
			}
		}
		return true
	})
	return texts, nil
}

// inProduct reports whether the strings of a file reach users.
func inProduct(path string) bool {
	return !strings.Contains(filepath.ToSlash("/"+path), "/test/") && !strings.Contains(filepath.ToSlash("/"+path), "/testenv/")
}
