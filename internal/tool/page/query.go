package page

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ibkit/ibkit/ib"
	"github.com/ibkit/ibkit/internal/tool/top"
)

// Rows on a page of a list, by default and at most.
const (
	defaultRows = 100
	maxRows     = 1000
)

// A query is the parameters of an address.
type query struct {
	values url.Values

	text         string // part of a name
	order        top.Order
	reverse      bool
	problems     bool
	start, limit int
	guid         ib.GUID
	port         int
}

// parseQuery parses the parameters. Unknown parameters are ignored.
func parseQuery(values url.Values) (q query, err error) {
	q = query{values: values, text: values.Get("q"), limit: defaultRows}
	if name := values.Get("sort"); name != "" {
		i := slices.Index(top.Orders, name)
		if i < 0 {
			return q, fmt.Errorf("invalid sort %q: want %s", name, strings.Join(top.Orders, ", "))
		}
		q.order = top.Order(i)
	}
	q.reverse, q.problems = values.Get("reverse") != "", values.Get("problems") != ""
	for _, n := range []struct {
		name        string
		to          *int
		least, most int
	}{{"start", &q.start, 0, 1 << 30}, {"limit", &q.limit, 1, maxRows}, {"port", &q.port, 0, 255}} {
		text := values.Get(n.name)
		if text == "" {
			continue
		}
		if *n.to, err = strconv.Atoi(text); err != nil || *n.to < n.least || *n.to > n.most {
			return q, fmt.Errorf("invalid %s %q: want a number from %d to %d", n.name, text, n.least, n.most)
		}
	}
	if text := values.Get("node"); text != "" {
		if q.guid, err = ib.ParseGUID(text); err != nil {
			return q, fmt.Errorf("invalid node %q: want a node GUID, as /api/linkinfo has it", text)
		}
	}
	return q, nil
}

// noLink is the page for a link that the last sweep lacks.
func (q query) noLink() content {
	text := fmt.Sprintf("The last sweep has no port %d with a link on the node %v.", q.port, q.guid)
	if q.guid == 0 {
		text = "The address selects no link. It ends with ?node=GUID&port=NUMBER; the links of the page Links have it."
	}
	return message(http.StatusNotFound, "No such link", text)
}

// noNode is the page for a node that the last sweep lacks.
func (q query) noNode() content {
	text := fmt.Sprintf("The last sweep has no node %v.", q.guid)
	if q.guid == 0 {
		text = "The address selects no node. It ends with ?node=GUID; the links of the page Nodes have it."
	}
	return message(http.StatusNotFound, "No such node", text)
}

// with returns the address of a list with other values of parameters, names and values in
// turn. The list then begins with its first row.
func (q query) with(path string, changes ...string) string {
	values := url.Values{}
	for name, value := range q.values {
		if name != "start" {
			values[name] = value
		}
	}
	for i := 0; i < len(changes); i += 2 {
		if values.Set(changes[i], changes[i+1]); changes[i+1] == "" {
			values.Del(changes[i])
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// rowsOf returns the rows of a list on the page.
func rowsOf[T any](q query, all []T) []T {
	start := min(q.start, len(all))
	return all[start:min(start+q.limit, len(all))]
}

// monitor returns a monitor's state with the selected links.
func (q query) monitor(s *top.Sample) *top.State {
	state := top.NewState(1)
	state.Order, state.Reverse, state.Filter, state.Problems = q.order, q.reverse, q.text, q.problems
	state.Add(s)
	return state
}

// addressOf returns the address of a port's link, or of a node if the port is -1.
func addressOf(node ib.GUID, port int) string {
	if port < 0 {
		return "node?node=" + node.String()
	}
	return fmt.Sprintf("link?node=%v&port=%d", node, port)
}
