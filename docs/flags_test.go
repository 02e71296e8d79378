package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	shellBlock = regexp.MustCompile("(?ms)^```(?:sh|console)\n(.*?)^```$")
	ibkitCall  = regexp.MustCompile(`(?:^|[\s;|&$(])(?:ibkit|go run \.) ([^|;&>)\n]*)`)
)

// TestFlags checks that each command and flag after the word ibkit exists, in code
// blocks and inline code, because TestExamples does not run all of them.
func TestFlags(t *testing.T) {
	t.Parallel()
	helps := map[string]string{}
	for _, page := range append(pages(t), "../CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range calls(string(text)) {
			command := words[:1]
			if (words[0] == "sim" || words[0] == "check" || words[0] == "link" || words[0] == "mesh" || words[0] == "trap" && len(words) > 1 && words[1] == "send") && len(words) > 1 && !strings.HasPrefix(words[1], "-") {
				command = words[:2]
			}
			name := strings.Join(command, " ")
			if helps[name] == "" {
				helps[name] = help(t, command...)
			}
			if !regexp.MustCompile(`Usage:\s+(ibkit )?` + name + `\b`).MatchString(helps[name]) {
				t.Errorf("%s: the command ibkit %s does not exist", page, name)
				continue
			}
			known := helpFlags(helps[name])
			for _, word := range words[len(command):] {
				flag, _, _ := strings.Cut(word, "=")
				if flagName.MatchString(flag) && !known[flag] {
					t.Errorf("%s: ibkit %s has no %s", page, name, flag)
				}
			}
		}
	}
}

// calls returns the words after the word ibkit on a page.
func calls(page string) [][]string {
	var code []string
	for _, m := range shellBlock.FindAllStringSubmatch(page, -1) {
		code = append(code, m[1])
	}
	for _, q := range quoted.FindAllString(fenced.ReplaceAllString(page, ""), -1) {
		code = append(code, strings.Trim(q, "`"))
	}
	var all [][]string
	for _, c := range code {
		for _, m := range ibkitCall.FindAllStringSubmatch(c, -1) {
			if words := strings.Fields(m[1]); len(words) > 0 && !strings.ContainsAny(words[0][:1], "-.") {
				all = append(all, words)
			}
		}
	}
	return all
}

// TestContainerfile compares the Containerfile on the page with the file.
func TestContainerfile(t *testing.T) {
	page, err := os.ReadFile("container.md")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("../packaging/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, recipe, _ := strings.Cut(string(file), "\n") // its first line is a comment
	if !strings.Contains(string(page), "```dockerfile\n"+recipe+"```\n") {
		t.Error("the Containerfile in container.md differs from packaging/Containerfile")
	}
}
