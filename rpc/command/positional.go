package command

import (
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// slots returns the names that a call by name may use, in positional order.
// The members of a NamedOptions parameter come just before it.
func (c *Command) slots() []slot {
	var slots []slot
	for i := range c.Params {
		p := &c.Params[i]
		if p.Type == NamedOptions {
			for j := range p.Inner {
				slots = append(slots, slot{p.Inner[j].Name, true})
			}
		}
		slots = append(slots, slot{p.Name, false})
	}
	return slots
}

// A slot is a name, with aliases, that a call by name may use.
type slot struct {
	names  string
	option bool // goes into the options object that follows
}

// positional turns the params of a request, null, an array or an object, into
// positional arguments.
func (c *Command) positional(params *jsontree.Value) ([]*jsontree.Value, error) {
	if params.Kind() == jsontree.Object {
		return c.fromNames(params)
	}
	values := make([]*jsontree.Value, params.Len())
	for i, v := range params.Elements() {
		values[i] = v
	}
	return values, nil
}

// named is a call by name on its way to positional arguments.
type named struct {
	given  map[string]*jsontree.Value // not used up yet
	values []*jsontree.Value
	unset  int    // positions passed since the last given one
	lead   int    // positions unset before the first given one
	first  string // the first given position's names
	any    bool   // a position was given
	option string // the first option gathered
	opts   *jsontree.Value
}

// fromNames follows Core's rules: gaps become null, trailing gaps vanish, an
// array called args provides leading values.
func (c *Command) fromNames(params *jsontree.Value) ([]*jsontree.Value, error) {
	n := named{given: make(map[string]*jsontree.Value, params.Len())}
	for key, v := range params.Members() {
		if _, twice := n.given[key]; twice {
			return nil, Errorf(InvalidParameter, "Parameter %s specified multiple times", key)
		}
		n.given[key] = v
	}
	for _, s := range c.slots() {
		if err := n.fill(s); err != nil {
			return nil, err
		}
	}
	if err := n.prepend(); err != nil {
		return nil, err
	}
	unknown := ""
	for key := range params.Members() {
		if _, left := n.given[key]; left {
			unknown = key // of several Core names the last
		}
	}
	if len(n.given) > 0 {
		return nil, Errorf(InvalidParameter, "Unknown named parameter %s", unknown)
	}
	return n.values, nil
}

// fill uses up what was given for one slot.
func (n *named) fill(s slot) error {
	key, v, found := n.take(s.names)
	if s.option {
		if !found {
			return nil
		}
		if n.opts == nil {
			n.opts, n.option = jsontree.NewObject(), key
		}
		n.opts.Add(key, v)
		return nil
	}
	if !found && n.opts == nil {
		n.unset++
		if !n.any {
			n.lead = n.unset
		}
		return nil
	}
	if found && n.opts != nil {
		return Errorf(InvalidParameter, "Parameter %s conflicts with parameter %s", key, n.option)
	}
	if !n.any {
		n.any, n.first = true, s.names
	}
	for range n.unset {
		n.values = append(n.values, jsontree.NewNull())
	}
	n.unset = 0
	if n.opts != nil {
		v, n.opts = n.opts, nil
	}
	n.values = append(n.values, v)
	return nil
}

// take removes and returns the first given of some names.
func (n *named) take(names string) (string, *jsontree.Value, bool) {
	for name := range strings.SplitSeq(names, "|") {
		if v, ok := n.given[name]; ok {
			delete(n.given, name)
			return name, v, true
		}
	}
	return "", nil, false
}

// prepend puts the elements of args before the named values. Core ignores an
// args that is not an array.
func (n *named) prepend() error {
	args, ok := n.given["args"]
	if !ok {
		return nil
	}
	delete(n.given, "args")
	if args.Kind() != jsontree.Array {
		return nil
	}
	if n.any && n.lead < args.Len() {
		return Errorf(InvalidParameter,
			"Parameter %s specified twice both as positional and named argument", n.first)
	}
	var values []*jsontree.Value
	for _, v := range args.Elements() {
		values = append(values, v)
	}
	if len(values) < len(n.values) {
		values = append(values, n.values[len(values):]...)
	}
	n.values = values
	return nil
}
