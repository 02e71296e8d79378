package linkinfo

import "github.com/ibkit/ibkit/linkinfo"

// maxOverview is the number of rows in which problems can be found without a second table.
const maxOverview = 20

// repeats reports whether the problems are printed again below a table: on a terminal with a
// height, if the table is long or does not fit, and has other rows, too.
func repeats(rows, problems, height int) bool {
	return height > 0 && problems > 0 && problems < rows && rows > min(maxOverview, height-2)
}

// problems returns the rows with problems.
func (t *table) problems(rows []linkinfo.Link) []linkinfo.Link {
	var found []linkinfo.Link
	for _, l := range rows {
		if either(l, t.hasProblem) {
			found = append(found, l)
		}
	}
	return found
}

// onlyProblems returns the hint to the option that shows the links with problems only, or "" if
// there are no others.
func (t *table) onlyProblems(rows, problems []linkinfo.Link) string {
	if len(problems) == 0 || len(problems) == len(rows) {
		return ""
	}
	return " (only these: --problems)"
}
