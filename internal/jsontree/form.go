package jsontree

import (
	"fmt"
	"reflect"
	"sync"
)

// A form is how values of a type are written.
type form uint8

const (
	asKind     form = iota // by their kind
	asAppender             // they, or pointers to them, are an [Appender]
	asText                 // a byte array by its method String
	asMembers
)

// forms holds the form of every type with a name, or of pointers, written so far.
var forms sync.Map

func formOf(t reflect.Type) form {
	if t.PkgPath() == "" && t.Kind() != reflect.Pointer { // has no methods
		return asKind
	}
	if as, ok := forms.Load(t); ok {
		return as.(form)
	}
	as, _ := forms.LoadOrStore(t, findForm(t))
	return as.(form)
}

func findForm(t reflect.Type) form {
	switch {
	case t.Kind() == reflect.Interface: // what it holds has a form
		return asKind
	case t == reflect.TypeFor[Value](), t.Implements(reflect.TypeFor[Appender]()):
		return asAppender
	case t == reflect.TypeFor[Members]():
		return asMembers
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8 && t.Implements(reflect.TypeFor[fmt.Stringer]()):
		return asText
	}
	return asKind
}

// pointed returns a pointer to a value, which saves a copy, or the value itself
// if it has no address.
func pointed(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.Pointer:
		return v.Interface()
	case v.CanAddr():
		return v.Addr().Interface()
	case v.Type() == reflect.TypeFor[Value]():
		value := v.Interface().(Value)
		return &value
	}
	return v.Interface()
}
