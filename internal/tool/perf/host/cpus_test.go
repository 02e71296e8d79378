package host

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseCPUs(t *testing.T) {
	for text, want := range map[string]CPUs{"auto": {}, "off": {Off: true}, fmt.Sprint(AllowedCPUs()[0]): {List: AllowedCPUs()[:1]}} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseCPUs(text)
			if d := cmp.Diff(want, got); err != nil || d != "" {
				t.Errorf("got error %v and difference\n%s", err, d)
			}
		})
	}
	if got, err := ParseCPUs("65000"); err == nil {
		t.Errorf("processor that does not exist: got %+v", got)
	}
}

func TestParseCPUList(t *testing.T) {
	got, err := parseCPUList("0-3,8")
	if d := cmp.Diff([]int{0, 1, 2, 3, 8}, got); err != nil || d != "" {
		t.Errorf("got error %v and difference\n%s", err, d)
	}
	for _, text := range []string{"", "x", "4-", "-", "9999999999", "1,,2", "5-2"} {
		t.Run(text, func(t *testing.T) {
			if got, err := parseCPUList(text); !errors.Is(err, ErrCPUs) {
				t.Errorf("got %v, %v, want %v", got, err, ErrCPUs)
			}
		})
	}
}

// TestPick checks that loops share the processors in a list and use no others.
func TestPick(t *testing.T) {
	for _, c := range []struct {
		name              string
		list, taken, want []int
		n                 int
		shared            bool
	}{
		{"free", []int{2, 5}, nil, []int{2}, 1, false},
		{"one taken", []int{2, 5}, []int{2}, []int{5}, 1, false},
		{"all taken", []int{2, 5}, []int{2, 5}, []int{2}, 1, true},
		{"more loops than processors", []int{2, 5}, []int{7}, []int{2, 5, 2}, 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, shared := CPUs{List: c.list}.Pick("rxe0", c.n, c.taken)
			if d := cmp.Diff(c.want, got); d != "" || shared != c.shared {
				t.Errorf("got shared %v, want %v, and difference\n%s", shared, c.shared, d)
			}
		})
	}
	t.Run("off", func(t *testing.T) {
		if got, shared := (CPUs{Off: true}).Pick("rxe0", 2, nil); got != nil || shared {
			t.Errorf("got %v, shared %v, want none", got, shared)
		}
	})
}

// TestReserve checks that two reservations differ until either is released.
func TestReserve(t *testing.T) {
	c := CPUs{List: []int{1, 2}}
	a, _, release := c.Reserve("rxe0", 1, nil)
	b, _, releaseB := c.Reserve("rxe0", 1, nil)
	release()
	again, _, releaseAgain := c.Reserve("rxe0", 1, nil)
	releaseB()
	releaseAgain()
	if d := cmp.Diff([][]int{{1}, {2}, {1}}, [][]int{a, b, again}); d != "" {
		t.Error(d)
	}
	if len(reserved.cpus) != 0 {
		t.Errorf("got %v reserved after release, want none", reserved.cpus)
	}
}
