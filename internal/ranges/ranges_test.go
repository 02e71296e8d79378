package ranges

import (
	"slices"
	"testing"
)

func TestParse(t *testing.T) {
	for list, want := range map[string][][2]uint8{
		"7":           {{7, 7}},
		"1-4,7":       {{1, 4}, {7, 7}},
		"0x10, 0-255": {{16, 16}, {0, 255}},
		"3-3":         {{3, 3}},
	} {
		t.Run(list, func(t *testing.T) {
			if got, err := Parse(list, "a port number", 255); err != nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		})
	}
	for list, want := range map[string]string{
		"":      `"" is not a service level from 0 to 15`,
		"1,,2":  `"" is not a service level from 0 to 15`,
		"16":    `"16" is not a service level from 0 to 15`,
		"1-":    `"" is not a service level from 0 to 15`,
		"1-2-3": `"2-3" is not a service level from 0 to 15`,
		"5-4":   "4 is below 5",
		"all":   `"all" is not a service level from 0 to 15`,
	} {
		t.Run("invalid "+list, func(t *testing.T) {
			if got, err := Parse(list, "a service level", 15); err == nil || err.Error() != want {
				t.Errorf("got %v, %v, want error %s", got, err, want)
			}
		})
	}
}

func TestFormat(t *testing.T) {
	for _, test := range []struct {
		numbers []int
		want    string
	}{
		{nil, ""},
		{[]int{3}, "3"},
		{[]int{0, 1, 2, 4, 7, 8}, "0-2,4,7-8"},
	} {
		if got := Format(test.numbers); got != test.want {
			t.Errorf("%v: got %q, want %q", test.numbers, got, test.want)
		}
	}
}
