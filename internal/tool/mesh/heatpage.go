package mesh

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/ibkit/ibkit/report"
)

// WriteHTML writes a page with the matrix and the findings that needs no other file.
func (r *Result) WriteHTML(w io.Writer) error {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>ibkit mesh</title>\n" +
		"<style>body{font:14px sans-serif;margin:24px}table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:4px 8px;text-align:left;vertical-align:top}" +
		".error{color:#990000}.warning{color:#8a5a00}</style></head><body>\n")
	fmt.Fprintf(&b, "<h1>Cluster test</h1>\n<p>%d flows between %d ends, %d slow, %d failed; %s.</p>\n", r.Flows, r.Endpoints, r.Slow, r.Failed, r.Began.Format("2006-01-02 15:04:05 MST"))
	if r.Partial {
		b.WriteString("<p>The result is partial.</p>\n")
	}
	b.WriteString(newHeatPicture(r.Heat()).svg())
	writeFindings(&b, r.Findings)
	b.WriteString("</body></html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// maxPageFindings limits the findings on a page.
const maxPageFindings = 500

// writeFindings writes the table of findings.
func writeFindings(b *strings.Builder, findings []report.Finding) {
	if len(findings) == 0 {
		b.WriteString("<p>No findings.</p>\n")
		return
	}
	b.WriteString("<table><tr><th>severity</th><th>finding</th><th>subject</th><th>detail</th><th>next</th></tr>\n")
	for _, f := range findings[:min(len(findings), maxPageFindings)] {
		e := html.EscapeString
		fmt.Fprintf(b, "<tr><td class=\"%s\">%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", f.Severity, f.Severity, f.Kind, e(f.Subject), e(f.Detail), e(f.Hint))
	}
	b.WriteString("</table>\n")
	if more := len(findings) - maxPageFindings; more > 0 {
		fmt.Fprintf(b, "<p>and %d more: --json has all.</p>\n", more)
	}
}
