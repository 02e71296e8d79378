package completion

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/ibkit/ibkit/cmd/internal/cmdutil"
)

// writeBash writes the script for bash. That of cobra requires the package
// bash-completion; withoutPackage replaces the functions of the package.
func writeBash(root *cobra.Command, env *cmdutil.Env) error {
	if err := root.GenBashCompletionV2(env.Out, true); err != nil {
		return err
	}
	_, err := io.WriteString(env.Out, withoutPackage)
	return err
}

// withoutPackage sets cur, prev, words and cword as _get_comp_words_by_ref -n =: does:
// bash splits a command line at = and :, which belong to a word here. _filedir
// completes the names of directories.
const withoutPackage = `
declare -F _filedir >/dev/null 2>&1 || _filedir()
{
    compopt -o filenames 2>/dev/null
    local name
    while IFS= read -r name; do
        COMPREPLY+=("$name")
    done < <(compgen -d -- "$cur")
}

__ibkit_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local rest=${COMP_LINE:0:COMP_POINT} i word blank last
    words=()
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        blank=${rest%%[![:blank:]]*}
        rest=${rest#"$blank"}
        ((i == COMP_CWORD)) && word=$rest
        rest=${rest#"$word"}
        last=$((${#words[@]} - 1))
        if ((last >= 0)) && [[ -z $blank && ( $word == [=:]* || ${words[last]} == *[=:] ) ]]; then
            words[last]+=$word
        else
            words+=("$word")
        fi
    done
    cword=$((${#words[@]} - 1))
    cur=${words[cword]}
    prev=
    ((cword > 0)) && prev=${words[cword - 1]}
    return 0
}
`
