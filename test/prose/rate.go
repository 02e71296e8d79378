package main

import (
	"fmt"
	"regexp"
	"strings"
)

// A group is a set of words that stand for a habit, with the highest rate that is
// accepted: uses per 1,000 words. The limits are near the highest rate that comments in
// cilium/ebpf, mdlayher/netlink, prometheus/procfs and cli/cli reach.
type group struct {
	name  string
	words *regexp.Regexp
	limit float64
}

var groups = []group{
	{"what", words("what"), 0.3},
	{"tell, say, ask", words("tells?", "told", "telling", "says?", "said", "saying", "asks?", "asked", "asking"), 0.4},
	{"none, nothing, nobody", words("none", "nothing", "nobody", "no one"), 0.8},
	{"where", words("where"), 1.6},
	{"of", words("of"), 33},
	{"one", words("ones?"), 2.9},
	{"those", words("those"), 0.3},
	{"whose", words("whose"), 0.3},
	{"figurative words", words("mends?", "mended", "mending", "patience", "breath", "sign of life", "of one mind", "in vain", "lest", "the other side", "on either side", "hold against", "held against"), 0},
}

func words(alternatives ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + strings.Join(alternatives, "|") + `)\b`)
}

// A hit is a use of a word of a group.
type hit struct {
	text
	group string
}

func (h hit) String() string {
	return fmt.Sprintf("%s:%d: [%s] %s", h.file, h.line, h.group, strings.TrimSpace(h.body))
}

func hits(texts []text) []hit {
	var found []hit
	for _, t := range texts {
		for _, g := range groups {
			if g.words.MatchString(t.body) {
				found = append(found, hit{t, g.name})
			}
		}
	}
	return found
}

// A rate is the use of a group in texts of a single kind.
type rate struct {
	kind        kind
	group       group
	uses, words int
}

// perThousand returns uses per 1,000 words.
func (r rate) perThousand() float64 {
	if r.words == 0 {
		return 0
	}
	return 1000 * float64(r.uses) / float64(r.words)
}

func (r rate) String() string {
	return fmt.Sprintf("%-14s %-22s %5d uses in %6d words: %5.2f per 1,000 (limit %.1f)",
		r.kind, r.group.name, r.uses, r.words, r.perThousand(), r.group.limit)
}

// rates returns a rate per kind of text and group.
func rates(texts []text) []rate {
	var all []rate
	for _, k := range []kind{comments, testComments, documents, printed, schemas} {
		for _, g := range groups {
			r := rate{kind: k, group: g}
			for _, t := range texts {
				if t.kind == k {
					r.words += len(strings.Fields(t.body))
					r.uses += len(g.words.FindAllString(t.body, -1))
				}
			}
			all = append(all, r)
		}
	}
	return all
}
