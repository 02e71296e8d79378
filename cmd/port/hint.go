package port

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
	"github.com/ibkit/ibkit/cmd/internal/fabricflag"
	"github.com/ibkit/ibkit/internal/tool/portchange"
)

// withTargetHint adds advice to the error for a target.
func withTargetHint(err error) error {
	if errors.Is(err, portchange.ErrSeveralNodes) {
		return cmdutil.WithHint(err, "list the nodes: ibkit topology --nodes; change several ports: --targets-file FILE")
	}
	return fabricflag.WithHint(err)
}

// changeHint returns advice for an invalid change. words are the arguments behind target
// and port.
func changeHint(args, words []string) string {
	for i, word := range words {
		name, text, isSetting := strings.Cut(word, "=")
		switch {
		case isSetting && strings.HasSuffix(name, "speed") && cmdutil.SpeedHint(text) != "":
			return cmdutil.SpeedHint(text)
		case isSetting || isAction(word):
			continue
		case isSettingName(word) && i+1 < len(words):
			return "settings are NAME=VALUE: " + word + "=" + words[i+1]
		case isSettingName(word):
			return "settings are NAME=VALUE: " + word + "=VALUE"
		}
		if hint := orderHint(args); hint != "" {
			return hint
		}
		return cmdutil.SimilarHint(word, changeWords())
	}
	return ""
}

// orderHint returns advice for arguments with a single target in another order, or "".
func orderHint(args []string) string {
	var targets, numbers, changes []string
	for _, arg := range args {
		_, notNumber := strconv.ParseUint(arg, 0, 31)
		switch {
		case notNumber == nil:
			numbers = append(numbers, arg)
		case isAction(arg) || strings.Contains(arg, "="):
			changes = append(changes, arg)
		default:
			targets = append(targets, arg)
		}
	}
	const order = "the order is TARGET PORT CHANGE"
	line := strings.Join(slices.Concat(targets, numbers, changes), " ")
	switch {
	case len(targets) != 1 || len(numbers) > 1:
		return ""
	case strings.ContainsAny(strings.Join(args, ""), " *?[]'\"$"): // needs quotation marks
		return order
	}
	return order + ": ibkit port " + line
}

func isAction(word string) bool {
	return slices.Contains(portchange.ActionNames, strings.ToLower(word))
}

func isSettingName(word string) bool {
	return slices.ContainsFunc(portchange.Settings, func(s *portchange.Setting) bool { return s.Name == strings.ToLower(word) })
}
