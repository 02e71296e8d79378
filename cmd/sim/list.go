package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/sim"
)

// newList makes the command that lists what can be simulated.
func newList(env *cmdutil.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "list [flags]",
		Short:                 "List the fabrics that can be simulated, with their parameters and defaults",
		DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdutil.UsageErrorf("unexpected argument %q", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return listFabricsJSON(env.Out)
			}
			return listFabrics(env.Out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// commonOptions hold for presets, behind a colon or a comma, and for files,
// behind a comma.
var commonOptions = []sim.Parameter{
	{Name: "sm", Default: "on", About: "on or minhop: configured, with the shortest ways; updown: with ways that lead up and then down; off: as before a subnet manager ran"},
	{Name: "root", Default: "", About: "with sm=updown: the ID of a switch that up leads to; can be given several times"},
}

func listFabrics(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "FABRIC\tPARAMETER\tDEFAULT\tWHAT\n")
	for _, p := range sim.Presets {
		fmt.Fprintf(t, "%s\t\t\t%s\n", p.Name, p.About)
		for _, v := range p.Parameters {
			fmt.Fprintf(t, "\t%s\t%s\t%s\n", v.Name, v.Default, v.About)
		}
	}
	for _, f := range fabricflag.Sources {
		fmt.Fprintf(t, "%s\t\t\t%s\n", f.Description, f.About)
	}
	fmt.Fprintf(t, "all but %s\t\t\toptions that each of these fabrics has\n", fabricflag.Ibsim)
	for _, v := range commonOptions {
		fmt.Fprintf(t, "\t%s\t%s\t%s\n", v.Name, v.Default, v.About)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

type jsonPreset struct {
	Name       string          `json:"name"`
	About      string          `json:"about"`
	Parameters []jsonParameter `json:"parameters"`
}

type jsonParameter struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	About   string `json:"about"`
}

// listFabricsJSON prints the presets.
func listFabricsJSON(w io.Writer) error {
	list := struct {
		Presets []jsonPreset `json:"presets"`
	}{}
	for _, p := range sim.Presets {
		j := jsonPreset{Name: p.Name, About: p.About, Parameters: []jsonParameter{}}
		for _, v := range p.Parameters {
			j.Parameters = append(j.Parameters, jsonParameter(v))
		}
		list.Presets = append(list.Presets, j)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(list); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}
