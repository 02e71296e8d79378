package sim

import (
	"fmt"
	"io"
	"strings"
)

// A Command changes a fabric that is in use, or tells about it. Commands are
// what scripts of events and the console have in common.
type Command struct {
	where string // file, line and column
	text  string
	do    func(f *Fabric, out io.Writer) error

	// Tells says that the command changes nothing, but writes.
	Tells bool
}

// Do carries out a command. What it has to tell goes to out.
func (f *Fabric) Do(c Command, out io.Writer) error {
	if err := c.do(f, out); err != nil {
		return fmt.Errorf("%s: %s: %w", c.where, c.text, err)
	}
	return nil
}

// A verb is what a command begins with.
type verb struct {
	name, usage, about string
	tells              bool

	// parse reads what follows the name.
	parse func(f *Fabric, l *eventLine) (func(*Fabric, io.Writer) error, error)
}

// verbs are all that there are. PORT stands for NODE[NUMBER], NODE for an ID or
// a description, in quotation marks where it has blanks or brackets.
var verbs []verb

func init() { // help refers to them
	verbs = []verb{
		{"unlink", "PORT|NODE", "pull the cable out of a port, or all cables of a node", false, parseUnlink},
		{"link", "PORT [PORT]", "plug a cable in, or back in where it was pulled out", false, parseLink},
		{"flap", "PORT DURATION [TIMES]", "take a link down for a time, TIMES times with as long between", false, parseFlap},
		{"down", "NODE", "take the power from a node", false, parsePower(false)},
		{"up", "NODE", "give a node its power back", false, parsePower(true)},
		{"hang", "NODE", "make the agents of a node answer nothing; its links stay up", false, parseSilent(true)},
		{"resume", "NODE", "make them answer again", false, parseSilent(false)},
		{"ping", "NODE|all [off]", "start an ibping server on a node, or stop it", false, parsePing},
		{"sm", "PORT", "hand the subnet over to a subnet manager at a port", false, parseHandOver},
		{"sweep", "", "have the fabric's own subnet manager configure it anew", false, parseSweep},
		{"perfcaps", "NODE|all MASK [MASK2]", "change the capability masks of performance management", false, parsePerfCaps},
		{"counter", "PORT NAME VALUE", "set a performance counter, by perfquery's name for it", false, parseCounter},
		{"rate", "PORT NAME NUMBER", "let a performance counter grow by so much a second", false, parseRate},
		{"congest", "PORT NODE NODE [SL]", "log congestion at a port by a packet between two nodes", false, parseCongest},
		{"model", "NAME=VALUE...", "change the clock model: " + modelNames(), false, parseModelCommand},
		{"dump", "[NODE]", "show the ports of one node or of all", true, parseDump},
		{"help", "", "show all commands", true, parseHelp},
	}
}

// ParseCommand reads one command. file and number say where it is, for errors.
func (f *Fabric) ParseCommand(file string, number int, text string) (Command, error) {
	l := &eventLine{netLine: netLine{file: file, number: number, text: strings.TrimRight(text, " \t\r\n")}}
	l.blanks()
	return f.command(l)
}

// command reads the rest of a line.
func (f *Fabric) command(l *eventLine) (Command, error) {
	start := l.at
	c := Command{where: fmt.Sprintf("%s:%d", l.where(), start+1), text: l.rest()}
	word := l.run(isLetter)
	for _, v := range verbs {
		if v.name != word {
			continue
		}
		var err error
		if c.do, err = v.parse(f, l); err != nil {
			return c, err
		}
		if l.blanks(); l.rest() != "" {
			return c, l.expected("the end of the line")
		}
		c.Tells = v.tells
		return c, nil
	}
	l.at = start
	var names []string
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return c, l.expected("a command (" + strings.Join(names, ", ") + ")")
}

func parseHelp(_ *Fabric, _ *eventLine) (func(*Fabric, io.Writer) error, error) {
	return func(_ *Fabric, out io.Writer) error {
		_, err := io.WriteString(out, CommandHelp())
		return err
	}, nil
}

// CommandHelp describes all commands, one a line.
func CommandHelp() string {
	var b strings.Builder
	for _, v := range verbs {
		fmt.Fprintf(&b, "  %-30s %s\n", strings.TrimSpace(v.name+" "+v.usage), v.about)
	}
	return b.String()
}
