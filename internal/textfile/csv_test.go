package textfile_test

import (
	"strings"
	"testing"

	"github.com/ibkit/ibkit/internal/textfile"
)

func TestCSVText(t *testing.T) {
	for text, want := range map[string]string{
		"":                "",
		"leaf1":           "leaf1",
		"a=b":             "a=b",
		"#1":              "'#1",
		" =1":             " =1",
		"größer":          "größer",
		`=HYPERLINK("x")`: `'=HYPERLINK("x")`,
		"+1":              "'+1",
		"-1":              "'-1",
		"@SUM(1)":         "'@SUM(1)",
		"\t=1":            "'\t=1",
		"\r=1":            "'\r=1",
		"\n=1":            "'\n=1",
		"＝1":              "'＝1",
		"'=1":             "''=1",
		"'":               "''",
	} {
		t.Run(text, func(t *testing.T) {
			got := textfile.CSVText(text)
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if again := textfile.ParseCSVText(got); again != text {
				t.Errorf("parsed again: got %q, want %q", again, text)
			}
		})
	}
}

// Texts are not run as formulas, and numbers stay numbers.
func TestCSV(t *testing.T) {
	var b strings.Builder
	c := textfile.NewCSV(&b, "name", "value")
	for _, field := range []string{"=1+1", "-1", "-1+1", "'", "+1", "12", "-2.5e-7", "a,b"} {
		c.Write(field, "1")
	}
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	want := "name,value\n'=1+1,1\n-1,1\n'-1+1,1\n'',1\n'+1,1\n12,1\n-2.5e-7,1\n\"a,b\",1\n"
	if got := b.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
