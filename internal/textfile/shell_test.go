package textfile

import "testing"

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{"eth0": "eth0", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'", "10.0.0.1/24": "10.0.0.1/24"} {
		t.Run(text, func(t *testing.T) {
			if got := ShellWord(text); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
