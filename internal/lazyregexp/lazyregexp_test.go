package lazyregexp

import "testing"

func TestRegexp(t *testing.T) {
	r := New(`^(a+)(b*)$`)
	if got := r.FindStringSubmatch("aab"); len(got) != 3 || got[1] != "aa" {
		t.Errorf("got %q, want aa and b", got)
	}
	if got := r.FindSubmatch([]byte("a")); len(got) != 3 || string(got[2]) != "" {
		t.Errorf("got %q, want a and an empty text", got)
	}
	if !r.MatchString("ab") || r.Match([]byte("b")) {
		t.Error("got no match of ab, or a match of b")
	}
	if got := r.ReplaceAllString("ab", "$2"); got != "b" {
		t.Errorf("got %q, want b", got)
	}
}

// An invalid expression panics at first use.
func TestRegexp_Invalid(t *testing.T) {
	r := New("(")
	defer func() {
		if recover() == nil {
			t.Error("got no panic")
		}
	}()
	r.MatchString("")
}
