package top

import (
	"github.com/gdamore/tcell/v2"

	"github.com/ibkit/ibkit/internal/tool/top"
)

// A binding is a key with its meaning, for the help.
type binding struct{ keys, text string }

// bindings are all keys.
var bindings = []binding{
	{"Up Down PgUp PgDn j k", "select a row"},
	{"Home End", "first and last row"},
	{"Enter", "port of the row: counters and recent values"},
	{"n", "node of the row; again: node at the other end"},
	{"g", "go to a node, or to a port (NAME[3])"},
	{"p", "paths between two ports"},
	{"Esc Backspace", "back"},
	{"s", "next order: severity, errors, util, wait, findings, name"},
	{"r", "sort in the other direction"},
	{"/", "filter links by a part of their name; Ctrl-U clears it"},
	{"x", "only links with errors or findings"},
	{"Space", "pause, and continue with the last sample"},
	{"Left Right", "earlier and later samples"},
	{"e", "write this screen as JSON to a file"},
	{"Ctrl-L", "draw the screen again"},
	{"Ctrl-Z", "suspend; fg in the shell continues"},
	{"? h", "this list"},
	{"q Ctrl-C", "quit"},
}

// An action is the part of a key that concerns the terminal.
type action uint8

const (
	goOn action = iota
	quit
	redraw
	suspend
)

// key handles a key. height is the number of rows of a page.
func (u *ui) key(e *tcell.EventKey, height int) action {
	if e.Key() == tcell.KeyCtrlC {
		return quit
	}
	if e.Key() == tcell.KeyCtrlL {
		return redraw
	}
	if e.Key() == tcell.KeyCtrlZ {
		return suspend
	}
	u.message = ""
	if e.Modifiers()&tcell.ModAlt != 0 {
		// A terminal sends Alt as Escape in front of the key: two keys in quick succession
		// look the same.
		u.escape()
	}
	switch {
	case u.help:
		u.help = false
	case u.prompt != nil:
		u.edit(e)
	default:
		return u.command(e, height)
	}
	return goOn
}

// escape ends a prompt or the list of keys, or returns to the screen before.
func (u *ui) escape() {
	switch {
	case u.help:
		u.help = false
	case u.prompt != nil:
		u.prompt = nil
	default:
		u.back()
	}
}

// edit handles a key of a prompt.
func (u *ui) edit(e *tcell.EventKey) {
	p := u.prompt
	switch e.Key() {
	case tcell.KeyEscape:
		u.escape()
	case tcell.KeyEnter:
		u.prompt = nil
		p.done(string(p.text))
	case tcell.KeyBackspace, tcell.KeyBackspace2:
		if len(p.text) > 0 {
			p.text = p.text[:len(p.text)-1]
		}
	case tcell.KeyCtrlU:
		p.text = nil
	case tcell.KeyRune:
		if len(p.text) < 200 {
			p.text = append(p.text, e.Rune())
		}
	}
}

// command handles a key of a screen.
func (u *ui) command(e *tcell.EventKey, height int) action {
	switch e.Key() {
	case tcell.KeyUp:
		u.move(-1)
	case tcell.KeyDown:
		u.move(1)
	case tcell.KeyPgUp:
		u.move(-height)
	case tcell.KeyPgDn:
		u.move(height)
	case tcell.KeyHome:
		u.move(-u.rows())
	case tcell.KeyEnd:
		u.move(u.rows())
	case tcell.KeyLeft:
		u.state.Move(-1)
	case tcell.KeyRight:
		u.state.Move(1)
	case tcell.KeyEscape, tcell.KeyBackspace, tcell.KeyBackspace2:
		u.escape()
	case tcell.KeyEnter:
		if l := u.selectedLink(); l != nil && u.view().kind != portView {
			u.open(view{kind: portView, guid: l.Near.NodeGUID, port: l.Near.Port})
		}
	case tcell.KeyRune:
		return u.letter(e.Rune())
	}
	return goOn
}

// letter handles a letter.
func (u *ui) letter(r rune) action {
	switch r {
	case 'q':
		return quit
	case '?', 'h':
		u.help = true
	case 'j':
		u.move(1)
	case 'k':
		u.move(-1)
	case ' ':
		u.state.Pause()
	case 'e':
		u.export()
	}
	if u.state.Sample() == nil {
		return goOn
	}
	switch r {
	case 's':
		u.state.Order = top.Order((int(u.state.Order) + 1) % len(top.Orders))
	case 'r':
		u.state.Reverse = !u.state.Reverse
	case 'x':
		u.state.Problems = !u.state.Problems
	case 'n':
		u.openNode()
	case '/':
		u.prompt = &prompt{label: "filter: ", text: []rune(u.state.Filter), done: func(text string) {
			u.state.Filter = text
			u.views = u.views[:1]
			*u.view() = view{}
		}}
	case 'g':
		u.prompt = &prompt{label: "go to node or NAME[PORT]: ", done: u.goTo}
	case 'p':
		u.prompt = &prompt{label: "paths between A B: ", done: u.findPaths}
	}
	return goOn
}

// openNode opens the node of the selected row, or on its own screen the node at the other
// end.
func (u *ui) openNode() {
	l := u.selectedLink()
	if l == nil {
		return
	}
	end := l.Near
	if v := u.view(); v.kind == nodeView && v.guid == end.NodeGUID {
		if l.Far == nil {
			return
		}
		end = *l.Far
	}
	u.open(view{kind: nodeView, guid: end.NodeGUID})
}
