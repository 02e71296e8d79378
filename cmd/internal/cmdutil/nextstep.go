package cmdutil

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ibkit/ibkit/internal/textfile"
)

// fabricFlags are the flags that select a fabric and the way to it.
var fabricFlags = []string{"sim", "sim-model", "sim-events", "from", "Ca", "Port", "m-key", "config", "node-name-map"}

// A source is the command that runs, with the flags that selected its fabric.
type source struct {
	commands func() *cobra.Command
	flags    []sourceFlag
}

// A sourceFlag is a flag as it was given.
type sourceFlag struct{ name, words string }

// newSource returns the source of a command before it runs, which may change the values of
// flags. It omits keys, except for files with them.
func newSource(env *Env, cmd *cobra.Command) *source {
	s := &source{commands: cmd.Root}
	if env.Commands != nil {
		s.commands = sync.OnceValue(env.Commands)
	}
	for _, name := range fabricFlags {
		f := cmd.Flags().Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		value := f.Value.String()
		isFile := value != "sweep" && value != "sa"
		if name == "m-key" && !strings.HasPrefix(value, "@") || name == "from" && !isFile {
			continue
		}
		s.flags = append(s.flags, sourceFlag{name, givenFlag(f, value)})
	}
	return s
}

// givenFlag returns a flag with its value for a shell.
func givenFlag(f *pflag.Flag, value string) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand
	}
	return name + " " + textfile.ShellWord(Visible(value))
}

// afterRepair is the text before a command that shows the effect of a repair.
const afterRepair = "then: "

// nextCommand is a command in a text for users.
var nextCommand = regexp.MustCompile(`(` + afterRepair + `)?ibkit [^;,:>()]*`)

// NextStep returns a text for users in which each command that uses a fabric has the flags
// that selected the fabric of the running command, so that it works when pasted.
func (e *Env) NextStep(text string) string {
	if e.source == nil || len(e.source.flags) == 0 {
		return text
	}
	return nextCommand.ReplaceAllStringFunc(text, e.source.repeat)
}

// isAlone reports whether a word is a flag with which a command uses no fabric, that of another
// host, or a fabric of its own.
func isAlone(word string) bool {
	return slices.Contains([]string{"--help", "--list", "--serve", "--from", "--tables", "--sim"}, word)
}

// repeat adds the flags behind the words that name a command. A file does not show a repair, has
// no fans, and for counters takes neither targets nor a window; --save stores another.
func (s *source) repeat(line string) string {
	command, isLive := strings.CutPrefix(line, afterRepair)
	words := strings.Fields(command)[1:]
	cmd, _, err := s.commands().Find(words)
	if err != nil || !cmd.HasParent() || slices.ContainsFunc(words, isAlone) {
		return line
	}
	before, rest, ok := strings.Cut(line, cmd.CommandPath())
	if !ok {
		return line // an alias
	}
	isLive = isLive || cmd.Name() == "counters" || slices.Contains(words, "--save") || slices.Contains(words, "--devices")
	head := before + cmd.CommandPath()
	for _, f := range s.flags {
		if (f.name != "from" || !isLive) && cmd.Flags().Lookup(f.name) != nil {
			head += " " + f.words
		}
	}
	return head + rest
}
