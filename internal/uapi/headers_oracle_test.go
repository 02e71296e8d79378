//go:build oracle

package uapi

import (
	"debug/dwarf"
	"debug/elf"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write "+recorded)

// included are the headers of linux-libc-dev.
var included = []string{
	"ib_user_ioctl_cmds", "ib_user_ioctl_verbs", "ib_user_mad", "ib_user_sa", "ib_user_verbs", "rdma_user_cm", "rdma_user_ioctl",
	"rdma_user_ioctl_cmds", "rdma_user_rxe", "bnxt_re-abi", "efa-abi", "irdma-abi", "mlx4-abi", "mlx5-abi", "mlx5_user_ioctl_cmds",
	"mlx5_user_ioctl_verbs", "siw-abi", "vmw_pvrdma-abi",
}

// The recorded declarations are from a C compiler with the installed headers. It
// describes them in the debugging information (DWARF) of a program that uses them.
func TestHeaders_Compiled(t *testing.T) {
	got := compile(t, program(t))
	if *update {
		if err := os.WriteFile(recorded, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(recorded); err != nil || got != string(want) {
		t.Errorf("got %v and other declarations than in %s; -update writes it", err, recorded)
	}
}

// program returns a C program that uses the structures and constants of this package, each
// constant as the value of an enumerator.
func program(t *testing.T) string {
	var b strings.Builder
	for _, name := range included {
		fmt.Fprintf(&b, "#include <rdma/%s.h>\n", name)
	}
	d, missing := readSource(t), readHeaders(t, newer)
	structs, numbers := map[string]bool{}, map[string]bool{"IB_USER_MAD_REGISTER_AGENT2": true, "RDMA_VERBS_IOCTL": true}
	for _, s := range d.structures {
		if s.c != "" && !slices.Contains(withoutHeader, s.name) {
			name, _, _ := strings.Cut(s.c, ".")
			if _, ok := missing.members[name]; !ok {
				structs[name] = true
			}
		}
	}
	for _, n := range d.numbers {
		switch _, ok := missing.numbers[n.c]; {
		case n.c == "" || ok || slices.Contains(withoutName, n.name):
		case n.c == strings.ToLower(n.c):
			structs[n.c] = true
		default:
			numbers[n.c] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(structs)) {
		fmt.Fprintf(&b, "struct %s use_%[1]s;\n", name)
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		fmt.Fprintf(&b, "enum { use_%s = (unsigned int)(%[1]s) } var_%[1]s;\n", name)
	}
	return b.String()
}

// compile compiles a program and returns the declarations in its debugging information.
func compile(t *testing.T, text string) string {
	t.Helper()
	object := filepath.Join(t.TempDir(), "program.o")
	cc := exec.Command("cc", "-g", "-c", "-x", "c", "-o", object, "-")
	cc.Stdin = strings.NewReader(text)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for r := data.Reader(); ; {
		e, err := r.Next()
		switch {
		case err != nil:
			t.Fatal(err)
		case e == nil:
			return strings.Join(slices.Sorted(maps.Keys(lines)), "")
		case e.Tag == dwarf.TagVariable:
			typ, err := data.Type(e.Val(dwarf.AttrType).(dwarf.Offset))
			if err != nil {
				t.Fatal(err)
			}
			describe(typ, lines)
		}
	}
}

// describe adds the lines of a structure or of enumerators.
func describe(typ dwarf.Type, lines map[string]bool) {
	switch typ := typ.(type) {
	case *dwarf.StructType:
		lines[fmt.Sprintf("%s 0 %d\n", typ.StructName, typ.ByteSize)] = true
		describeFields(typ, typ.StructName, 0, lines)
	case *dwarf.EnumType:
		for _, v := range typ.Val {
			lines[fmt.Sprintf("%s %d\n", strings.TrimPrefix(v.Name, "use_"), v.Val)] = true
		}
	}
}

// describeFields adds the members of a structure and of the structures in it.
func describeFields(s *dwarf.StructType, path string, start int64, lines map[string]bool) {
	for _, f := range s.Field {
		at, inner := path, start+f.ByteOffset
		if f.Name != "" {
			at += "." + f.Name
			lines[fmt.Sprintf("%s %d %d\n", at, inner, max(f.Type.Size(), 0))] = true
		}
		if s, ok := f.Type.(*dwarf.StructType); ok {
			describeFields(s, at, inner, lines)
		}
	}
}
