package fabric

import (
	"strings"
	"unicode"

	"github.com/ibkit/ibkit/ib"
)

// UniqueNames returns the names that select a single one of some nodes in all commands, by
// node GUID. It omits names that several nodes have, and names that a command or a shell
// takes for something else: a number, an address, a port or a pattern.
func UniqueNames[N any](nodes []N, node func(N) (ib.GUID, string)) map[ib.GUID]string {
	count := map[string]int{}
	for _, n := range nodes {
		_, name := node(n)
		count[name]++
	}
	names := map[ib.GUID]string{}
	for _, n := range nodes {
		if guid, name := node(n); count[name] == 1 && isWord(name) {
			names[guid] = name
		}
	}
	return names
}

// UniqueNames is the function [UniqueNames] for the nodes of a fabric.
func (m *NameMap) UniqueNames(f *Fabric) map[ib.GUID]string {
	return UniqueNames(f.Nodes, func(n *Node) (ib.GUID, string) { return n.GUID, m.Name(n) })
}

// isWord reports whether a name is a name for all commands, and a single word for a shell.
func isWord(name string) bool {
	for i, c := range name {
		letter := c < unicode.MaxASCII && unicode.IsLetter(c)
		if !letter && (i == 0 || !strings.ContainsRune("0123456789-_.", c)) {
			return false
		}
	}
	return name != ""
}
