package cmdutil

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/internal/similar"
)

// maxHelp is the width of a line in the help text of a flag.
const maxHelp = 70

// EnumFlag declares a flag whose value is one of a set. The texts of the values, as
// [fmt.Sprint] returns them, appear in the help text, in errors and in completions.
// Case does not matter.
func EnumFlag[T any](cmd *cobra.Command, to *T, name string, value T, values []T, usage string) {
	*to = value
	texts := textsOf(values)
	cmd.Flags().Var(&enum[T]{to, values, texts}, name, enumHelp(usage, texts))
	register(cmd, name, completeFrom(nil, Constant(texts...), false))
}

// EnumListFlag declares a flag whose value is a comma-separated list of values of a
// set, with texts as for [EnumFlag]. A list in to is the default.
func EnumListFlag[T any](cmd *cobra.Command, to *[]T, name string, values []T, usage string) {
	texts := textsOf(values)
	cmd.Flags().Var(&enumList[T]{to: to, values: values, texts: texts}, name, enumHelp(usage, texts))
	register(cmd, name, completeFrom(nil, Constant(texts...), true))
}

// DescribedListFlag is [EnumListFlag] for values with a description, separated by a tab.
// Completions show both. The help text has neither: another flag or the manual page lists
// the values.
func DescribedListFlag(cmd *cobra.Command, to *[]string, name string, described []string, usage string) {
	values := make([]string, len(described))
	for i, d := range described {
		values[i], _, _ = strings.Cut(d, "\t")
	}
	cmd.Flags().Var(&enumList[string]{to: to, values: values, texts: values}, name, usage)
	register(cmd, name, completeFrom(nil, Constant(described...), true))
}

func textsOf[T any](values []T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return texts
}

// enumHelp returns a help text with the values, in several lines if there are many.
func enumHelp(usage string, values []string) string {
	text, width := usage+":", len(usage)+1
	for i, v := range values {
		if i < len(values)-1 {
			v += ","
		}
		if width+1+len(v) > maxHelp {
			text += "\n" + v
			width = len(v)
		} else {
			text += " " + v
			width += 1 + len(v)
		}
	}
	return text
}

// pick returns the value of a set that a text stands for.
func pick[T any](values []T, texts []string, text string) (value T, err error) {
	i := slices.IndexFunc(texts, func(v string) bool { return strings.EqualFold(v, text) })
	if i < 0 {
		return value, &choiceError{text, texts}
	}
	return values[i], nil
}

// A choiceError reports a text that is none of a set.
type choiceError struct {
	text   string
	values []string
}

func (e *choiceError) Error() string { return "want one of " + strings.Join(e.values, ", ") }

// SimilarHint returns advice for a misspelt word, or "".
func SimilarHint(word string, known []string) string {
	if names := similar.To(word, known); len(names) > 0 {
		return "similar: " + strings.Join(names, ", ")
	}
	return ""
}

// An enum is the value of an [EnumFlag].
type enum[T any] struct {
	to     *T
	values []T
	texts  []string
}

func (e *enum[T]) String() string { return fmt.Sprint(*e.to) }
func (e *enum[T]) Type() string   { return "string" }

func (e *enum[T]) Set(text string) error {
	v, err := pick(e.values, e.texts, text)
	if err == nil {
		*e.to = v
	}
	return err
}

// An enumList is the value of an [EnumListFlag]. The first Set replaces the default.
type enumList[T any] struct {
	to     *[]T
	values []T
	texts  []string
	set    bool
}

func (e *enumList[T]) String() string { return strings.Join(textsOf(*e.to), ",") }
func (e *enumList[T]) Type() string   { return "stringSlice" }

func (e *enumList[T]) Set(text string) error {
	var list []T
	for field := range strings.SplitSeq(text, ",") {
		v, err := pick(e.values, e.texts, field)
		if err != nil {
			if field == text {
				return err // the error of the flag has the text
			}
			return fmt.Errorf("%q: %w", field, err)
		}
		list = append(list, v)
	}
	if !e.set {
		*e.to, e.set = nil, true
	}
	*e.to = append(*e.to, list...)
	return nil
}
