package command

import "strings"

// A Conversion says how a client that has texts only gives one parameter.
type Conversion struct {
	Method   string
	Position int // of a member of an options object that of the object
	Name     string
	Text     bool // the parameter is a string: the client's text as it is
}

// Conversions returns all parameters of all methods that Bitcoin Core has too, in the version spoken as or else in
// 30.2. Each comes under each of its names, by method and position: clients hold the list against their own of Core's.
// Parameters that may be given by name only come before the object that holds them.
func (t *Table) Conversions() []Conversion {
	var all []Conversion
	for _, c := range t.sorted {
		if c.Own || c.Since > t.version {
			continue
		}
		for i := range c.Params {
			p := &c.Params[i]
			if p.Type == NamedOptions {
				for j := range p.Inner {
					all = p.Inner[j].conversions(all, t.version, c.Name, i)
				}
			}
			all = p.conversions(all, t.version, c.Name, i)
		}
	}
	return all
}

func (p *Param) conversions(to []Conversion, version int, method string, position int) []Conversion {
	if p.Extension || p.Since > version {
		return to
	}
	for name := range strings.SplitSeq(p.Name, "|") {
		to = append(to, Conversion{method, position, name, p.Type == String || p.Type == Hex})
	}
	return to
}
