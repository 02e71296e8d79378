package guest

import "testing"

func TestFindPanic(t *testing.T) {
	for _, c := range []struct{ console, want string }{
		{"[    1.0] Linux version\n[    2.0] random: crng init done\n", ""},
		{"x\n[    3.0] Kernel panic - not syncing: sysrq triggered crash\n[    3.1] CPU: 0\n", "[    3.0] Kernel panic - not syncing: sysrq triggered crash"},
		{"[    4.0] Oops: 0002 [#1] PREEMPT SMP\n", "[    4.0] Oops: 0002 [#1] PREEMPT SMP"},
	} {
		t.Run(c.console, func(t *testing.T) {
			if got := findPanic(c.console); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
