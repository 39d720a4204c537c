package command

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// CheckResults has the result of each call compared with the results that the method declares: a call
// with another result fails, in Core's words (-rpcdoccheck). It takes as much time and memory as reading
// the result. Results that may hold secrets, that are streamed or that another node gives are not looked
// at. Call it before the table is used.
func (t *Table) CheckResults() *Table {
	t.checksResults = true
	return t
}

// checkResult returns an error if a result is none of those that are declared.
func (c *Command) checkResult(result any) error {
	if _, streamed := result.(io.Reader); streamed || c.ShowsSecrets() {
		return nil
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		return err
	}
	v, err := jsontree.Parse(text)
	if err != nil {
		return err
	}
	wrong := mismatches(c.Results, v)
	if wrong == "" {
		return nil
	}
	return Errorf(MiscError, "Internal bug detected: RPC call \"%s\" returned incorrect type:\n%s\n", c.Name, wrong)
}

// mismatches says why a value is none of several, "" where it is one.
func mismatches(results []Result, v *jsontree.Value) string {
	var all []string
	for i := range results {
		wrong := results[i].mismatch(v)
		if wrong == "" {
			return ""
		}
		all = append(all, wrong)
	}
	if len(all) == 0 {
		return "no possible results defined"
	}
	return strings.Join(all, "; or ")
}

// mismatch says why a value is not as declared, "" where it is.
func (r *Result) mismatch(v *jsontree.Value) string {
	want, checked := r.Type.resultKind()
	switch {
	case !checked, r.OrFalse && isFalse(v):
		return ""
	case v.Kind() != want:
		return fmt.Sprintf("returned a JSON %v, but declared it as JSON %v in doc", v.Kind(), want)
	case r.Type == Array:
		return r.elementMismatch(v)
	case r.Type == UserKeys:
		return r.memberMismatch(v)
	case r.Type == Object:
		return r.objectMismatch(v)
	}
	return ""
}

func isFalse(v *jsontree.Value) bool {
	is, err := v.AsBool()
	return err == nil && !is
}

// resultKind returns what a result of a type is in JSON; checked is false where it may be anything.
func (t Type) resultKind() (kind jsontree.Kind, checked bool) {
	switch t {
	case String, Hex:
		return jsontree.String, true
	case Number, Amount, Timestamp:
		return jsontree.Number, true
	case Bool:
		return jsontree.Bool, true
	case Null:
		return jsontree.Null, true
	case Array:
		return jsontree.Array, true
	case Object, UserKeys:
		return jsontree.Object, true
	case Any, Elision, Range, NamedOptions:
	}
	return 0, false
}

func (r *Result) elementMismatch(v *jsontree.Value) string {
	for i, element := range v.Elements() {
		if wrong := mismatches(r.Inner, element); wrong != "" {
			return fmt.Sprintf("%d: %s", i, wrong)
		}
	}
	return ""
}

func (r *Result) memberMismatch(v *jsontree.Value) string {
	for key, member := range v.Members() {
		if wrong := mismatches(r.Inner, member); wrong != "" {
			return key + ": " + wrong
		}
	}
	return ""
}

func (r *Result) objectMismatch(v *jsontree.Value) string {
	isMore := slices.ContainsFunc(r.Inner, func(inner Result) bool { return inner.Type == Elision })
	for key, member := range v.Members() {
		i := slices.IndexFunc(r.Inner, func(inner Result) bool { return inner.Key == key })
		switch {
		case i < 0 && isMore:
		case i < 0:
			return key + ": key returned that was not in doc"
		default:
			if wrong := r.Inner[i].mismatch(member); wrong != "" {
				return key + ": " + wrong
			}
		}
	}
	for i := range r.Inner {
		if in := &r.Inner[i]; !in.Optional && in.Type != Elision && v.Get(in.Key) == nil {
			return in.Key + ": key missing, despite not being optional in doc"
		}
	}
	return ""
}
