package command

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// checkCount refuses a call with too few or too many arguments. The error is
// the method's help, as in Core.
func (c *Command) checkCount(n int) error {
	if n < c.required() || n > len(c.Params) {
		return Error{MiscError, c.Help()}
	}
	return nil
}

// checkTypes compares every argument with its declaration and reports all
// that differ in one error.
func (c *Command) checkTypes(values []*jsontree.Value) error {
	wrong := jsontree.NewObject()
	for i := range c.Params {
		p := &c.Params[i]
		var v *jsontree.Value
		if i < len(values) {
			v = values[i]
		}
		if err := p.check(v); err != nil {
			wrong.Add(fmt.Sprintf("Position %d (%s)", i+1, p.Name), jsontree.NewString(err.Error()))
		}
	}
	if wrong.Len() > 0 {
		return Error{TypeError, "Wrong type passed:\n" + wrong.Indent(4)}
	}
	return nil
}

// check returns a jsontree.TypeError unless v suits p.
func (p *Param) check(v *jsontree.Value) error {
	want, checked := p.Type.json()
	if !checked || p.AnyType || p.optional() && v.IsNull() || v.Kind() == want {
		return nil
	}
	return jsontree.TypeError{Got: v.Kind(), Want: want}
}

// json returns the JSON type of t, false when it has several.
func (t Type) json() (jsontree.Kind, bool) {
	switch t {
	case String, Hex:
		return jsontree.String, true
	case Number:
		return jsontree.Number, true
	case Bool:
		return jsontree.Bool, true
	case Array:
		return jsontree.Array, true
	case Object, UserKeys, NamedOptions:
		return jsontree.Object, true
	default:
		return jsontree.Null, false
	}
}
