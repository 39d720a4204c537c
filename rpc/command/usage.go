package command

import "strings"

// Usage returns the first line of the help text: the name and the parameters,
// the optional ones in parentheses.
func (c *Command) Usage() string {
	words, inOptional := []string{c.Name}, false
	for i := range c.visible() {
		p := &c.Params[i]
		switch optional := p.optional(); {
		case optional && !inOptional:
			words = append(words, "(")
		case !optional && inOptional:
			words = append(words, ")")
		}
		inOptional = p.optional()
		words = append(words, p.usage())
	}
	if inOptional {
		words = append(words, ")")
	}
	return strings.Join(words, " ")
}

// visible returns the parameters that help shows.
func (c *Command) visible() []Param {
	for i := range c.Params {
		if c.Params[i].Hidden {
			return c.Params[:i]
		}
	}
	return c.Params
}

// usage returns how p is written in a call: quotes around a string, the
// shape of an array or object.
func (p *Param) usage() string {
	if p.Usage != "" {
		return p.Usage
	}
	switch p.Type {
	case String, Hex:
		return `"` + p.first() + `"`
	case Array:
		return p.usageArray()
	case Object:
		return "{" + p.usageMembers() + "}"
	case UserKeys, NamedOptions:
		return "{" + p.usageMembers() + ",...}"
	default:
		return p.first()
	}
}

func (p *Param) usageArray() string {
	var b strings.Builder
	for i := range p.Inner {
		b.WriteString(p.Inner[i].usage() + ",")
	}
	return "[" + b.String() + "...]"
}

func (p *Param) usageMembers() string {
	members := make([]string, len(p.Inner))
	for i := range p.Inner {
		members[i] = `"` + p.Inner[i].first() + `":` + p.Inner[i].placeholder()
	}
	return strings.Join(members, ",")
}

// placeholder stands for the value of a member.
func (p *Param) placeholder() string {
	switch p.Type {
	case String:
		return `"str"`
	case Hex:
		return `"hex"`
	case Number:
		return "n"
	case Range:
		return "n or [n,n]"
	case Amount:
		return "amount"
	case Bool:
		return "bool"
	case Array:
		return p.usageArray()
	default:
		return "{" + p.usageMembers() + "}"
	}
}
