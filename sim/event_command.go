package sim

import (
	"fmt"
	"io"
	"strings"

	"github.com/ibkit/ibkit/internal/netfile"
)

// A Command changes or prints a fabric in use. Commands come from event scripts and
// from the console.
type Command struct {
	where string // file, line and column, for errors
	text  string
	do    func(f *Fabric, out io.Writer) error

	// ReadOnly is set for commands that only print.
	ReadOnly bool
}

// Do applies a command. Commands that print write to out.
func (f *Fabric) Do(c Command, out io.Writer) error {
	if err := c.do(f, out); err != nil {
		return fmt.Errorf("%s: %s: %w", c.where, c.text, err)
	}
	return nil
}

// A commandSpec declares a command.
type commandSpec struct {
	name, usage, about string
	readOnly           bool

	// parse reads the command's arguments.
	parse func(f *Fabric, l *eventLine) (func(*Fabric, io.Writer) error, error)
}

// commands are all commands. PORT stands for NODE[NUMBER]; NODE is an ID or a
// description, in quotation marks if it contains blanks or brackets.
var commands []commandSpec

func init() { // parseHelp refers to commands
	commands = []commandSpec{
		{"unlink", "PORT|NODE", "disconnect the cable of a port, or all cables", false, parseUnlink},
		{"link", "PORT [PORT]", "connect two ports (one: with its last peer)", false, parseLink},
		{"flap", "PORT DURATION [TIMES]", "take a link down and up again TIMES times", false, parseFlap},
		{"down", "NODE", "power off a node", false, parsePower(false)},
		{"up", "NODE", "power on a node", false, parsePower(true)},
		{"hang", "NODE", "stop the agents of a node; its links stay up", false, parseSilent(true)},
		{"resume", "NODE", "restart the agents of a node", false, parseSilent(false)},
		{"describe", "NODE TEXT", "change the description of a node", false, parseDescribe},
		{"ping", "NODE|all [off]", "start or stop an ibping server on a node", false, parsePing},
		{"sm", "PORT", "make the subnet manager at a port the master", false, parseHandOver},
		{"sweep", "", "run the fabric's own subnet manager once", false, parseSweep},
		{"perfcaps", "NODE|all MASK [MASK2]", "set the masks of the performance agent", false, parsePerfCaps},
		{"counter", "PORT NAME VALUE", "set a counter (names as in perfquery)", false, parseCounter},
		{"rate", "PORT NAME NUMBER", "increase a counter by NUMBER per second", false, parseRate},
		{"clear", "PORT|NODE", "set all counters of a port or of a node to 0", false, parseClear},
		{"pma", "NODE|all FAULT", "silent, other-port, rejected, late=TIME or ok", false, parsePerfFault},
		{"redirect", "NODE PORT QPN [P_KEY]", "redirect the performance agent to a queue pair", false, parseRedirect(false)},
		{"redirectgid", "NODE PORT QPN [P_KEY]", "the same, with the GID of the port only", false, parseRedirect(true)},
		{"fec", "PORT MODE", "set FEC: 0 off, 1 Fire code, 2 RS, 3 LL-RS", false, parseFEC},
		{"vendor", "NODE|all [off]", "start or stop the agent of NVIDIA's attributes", false, parseVendor},
		{"firmware", "NODE MAJOR MINOR SUBMINOR", "set the version of the firmware (vendor)", false, parseFirmware},
		{"adaptive", "NODE|all [off]", "turn adaptive routing on or off", false, parseAdaptive},
		{"optics", "PORT FAULT", "dirty (fibre), hot, dark (first lane) or ok", false, parseOptics},
		{"module", "PORT MAJOR MINOR BUILD", "set the firmware version of a module", false, parseModuleFirmware},
		{"fan", "SWITCH NUMBER RPM", "set the speed of a fan (vendor)", false, parseFan},
		{"psu", "SWITCH NUMBER [off]", "turn a power supply on or off (vendor)", false, parsePowerSupply},
		{"pcie", "NODE FAULT", "narrow (half of the PCIe lanes) or ok (vendor)", false, parsePCIe},
		{"registers", "NODE|all FAULT", "reject a register (ID); old: Sets; smp; new", false, parseRegisters},
		{"lft", "SWITCH LID PORT", "set the output port of a LID (255: none)", false, parseLFT},
		{"top", "SWITCH LID", "set the highest LID in use of a table", false, parseTop},
		{"pkeys", "PORT P_KEY...", "set the partition table of a port", false, parsePKeys},
		{"enforce", "PORT [off]", "report partition enforcement at a port", false, parseEnforce},
		{"mute", "NODE ATTR [MODIFIER]|off", "ignore requests for an attribute", false, parseMute},
		{"congest", "PORT NODE NODE [SL]", "log congestion by a packet between two nodes", false, parseCongest},
		{"model", "NAME=VALUE...", "change parameters of the clock model", false, parseModelCommand},
		{"dump", "[NODE]", "print a node's ports, or all ports", true, parseDump},
		{"help", "", "print all commands", true, parseHelp},
	}
}

// ParseCommand parses a single command. Errors name the file and the line number.
func (f *Fabric) ParseCommand(file string, number int, text string) (Command, error) {
	l := &eventLine{netfile.Line{File: file, Number: number, Text: strings.TrimRight(text, " \t\r\n")}}
	l.Blanks()
	return f.command(l)
}

// command parses the rest of a line.
func (f *Fabric) command(l *eventLine) (Command, error) {
	start := l.At
	c := Command{where: fmt.Sprintf("%s:%d", l.Location(), start+1), text: l.Rest()}
	word := l.Run(netfile.IsLetter)
	for _, v := range commands {
		if v.name != word {
			continue
		}
		var err error
		if c.do, err = v.parse(f, l); err != nil {
			return c, err
		}
		if l.Blanks(); l.Rest() != "" {
			return c, l.Expected("the end of the line")
		}
		c.ReadOnly = v.readOnly
		return c, nil
	}
	l.At = start
	var names []string
	for _, v := range commands {
		names = append(names, v.name)
	}
	return c, l.Expected("a command (" + strings.Join(names, ", ") + ")")
}

func parseHelp(_ *Fabric, _ *eventLine) (func(*Fabric, io.Writer) error, error) {
	return func(_ *Fabric, out io.Writer) error {
		_, err := io.WriteString(out, CommandHelp())
		return err
	}, nil
}

// aboutColumn is the width of the command column in the [CommandHelp] table. A longer
// command uses a separate line.
const aboutColumn = 30

// CommandHelp returns a table with all commands.
func CommandHelp() string {
	var b strings.Builder
	for _, v := range commands {
		command := strings.TrimSpace(v.name + " " + v.usage)
		if len(command) > aboutColumn {
			fmt.Fprintf(&b, "  %s\n", command)
			command = ""
		}
		fmt.Fprintf(&b, "  %-*s %s\n", aboutColumn, command, v.about)
	}
	return b.String()
}
