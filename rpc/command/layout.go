package command

import (
	"fmt"
	"strings"
)

// A layout is a list of lines in two columns: JSON on the left, what it means
// on the right.
type layout struct{ lines []line }

type line struct{ left, right string }

// columnGap is the space between the longest left side and the right sides.
const columnGap = 4

func (l *layout) add(left, right string) {
	l.lines = append(l.lines, line{left, strings.TrimSpace(right)})
}

// String returns the lines with the right sides aligned.
func (l *layout) String() string {
	width := 0
	for _, line := range l.lines {
		width = max(width, len(line.left))
	}
	width += columnGap
	var b strings.Builder
	for _, line := range l.lines {
		if line.right == "" {
			b.WriteString(line.left + "\n")
			continue
		}
		margin := "\n" + strings.Repeat(" ", width)
		fmt.Fprintf(&b, "%-*s%s\n", width, line.left, strings.ReplaceAll(line.right, "\n", margin))
	}
	return b.String()
}

// container tells what a parameter or result stands in.
type container int

const (
	inNothing container = iota
	inArray
	inObject
)

// addParam adds the lines of a nested parameter. If the parameter stands alone
// only its inside is added, because it has a line of its own already.
func (l *layout) addParam(p *Param, indent int, in container) {
	margin, key, right, comma := strings.Repeat(" ", indent), "", "", ""
	if in == inObject {
		key = `"` + p.first() + `": `
	}
	if in != inNothing {
		right, comma = p.describe(), ","
	}
	switch p.Type {
	case Array:
		l.add(margin+key+"[", right)
		l.addInner(p, indent+2, inArray)
		l.add(margin+"  ...", "")
		l.add(margin+"]"+comma, "")
	case Object, UserKeys, NamedOptions:
		l.add(margin+key+"{", right)
		l.addInner(p, indent+2, inObject)
		if p.Type != Object {
			l.add(margin+"  ...", "")
		}
		l.add(margin+"}"+comma, "")
	default:
		if in != inNothing {
			l.add(margin+key+p.shape(in)+comma, right)
		}
	}
}

func (l *layout) addInner(p *Param, indent int, in container) {
	for i := range p.Inner {
		l.addParam(&p.Inner[i], indent, in)
	}
}

// shape is the value on the left side.
func (p *Param) shape(in container) string {
	if in == inObject {
		return p.placeholder()
	}
	return p.usage()
}

// writeResult adds the section of one alternative.
func writeResult(b *strings.Builder, r *Result) {
	if r.Type == Any {
		return
	}
	b.WriteString("\nResult")
	if r.When != "" {
		b.WriteString(" (" + r.When + ")")
	}
	var l layout
	l.addResult(r, 0, inNothing, true)
	b.WriteString(":\n" + l.String())
}

// addResult adds the lines of a result. The last member of an object has no
// comma.
func (l *layout) addResult(r *Result, indent int, in container, last bool) {
	margin, key, comma := strings.Repeat(" ", indent), "", ""
	if in == inObject && r.Type != Elision {
		key = `"` + r.Key + `" : `
	}
	if in == inArray || in == inObject && !last {
		comma = ","
	}
	open, end := r.shape()
	if end == "" {
		l.add(margin+key+open+comma, r.describe())
		return
	}
	l.add(margin+key+open, r.describe())
	inner := inObject
	if r.Type == Array {
		inner = inArray
	}
	for i := range r.Inner {
		l.addResult(&r.Inner[i], indent+2, inner, i == len(r.Inner)-1 && r.Type == Object)
	}
	if r.Type != Object {
		l.add(margin+"  ...", "")
	}
	l.add(margin+end+comma, "")
}

// shape returns what a result looks like; the second part closes an array or
// object.
func (r *Result) shape() (open, end string) {
	switch r.Type {
	case Array:
		return "[", "]"
	case Object, UserKeys:
		return "{", "}"
	case String:
		return `"str"`, ""
	case Hex:
		return `"hex"`, ""
	case Bool:
		return "true|false", ""
	case Timestamp:
		return "xxx", ""
	case Null:
		return "null", ""
	case Number, Amount:
		return "n", ""
	default:
		return "...", ""
	}
}

func (r *Result) describe() string {
	if r.Type == Elision {
		return r.Help
	}
	what := r.Type.String()
	if r.Optional {
		what += ", optional"
	}
	if r.Since > 0 {
		what += fmt.Sprintf(", since %d", r.Since)
	}
	if r.Until > 0 {
		what += fmt.Sprintf(", until %d", r.Until)
	}
	return fmt.Sprintf("(%s) %s", what, r.Help)
}
