package jsontree

import (
	"reflect"
	"strings"
	"sync"
)

// A field is how one field of a struct is written.
type field struct {
	index     int
	key       []byte // in quotes, with the colon
	omitEmpty bool
	embedded  bool // its own fields take its place
	as        form
}

// plans holds the []field of every struct type written so far.
var plans sync.Map

func planOf(t reflect.Type) []field {
	if plan, ok := plans.Load(t); ok {
		return plan.([]field)
	}
	plan, _ := plans.LoadOrStore(t, makePlan(t))
	return plan.([]field)
}

func makePlan(t reflect.Type) []field {
	var plan []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag, hasTag := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
		case f.Anonymous && name == "" && isStruct(f.Type):
			plan = append(plan, field{index: i, embedded: true})
		case f.IsExported():
			if !hasTag || name == "" {
				name = f.Name
			}
			plan = append(plan, field{
				index:     i,
				key:       append(AppendString(nil, name), ':'),
				omitEmpty: options == "omitempty",
				as:        formOf(f.Type),
			})
		}
	}
	return plan
}

// isStruct reports whether t is a struct or a pointer to one.
func isStruct(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

func appendStruct(dst []byte, v reflect.Value) ([]byte, error) {
	dst = append(dst, '{')
	from := len(dst)
	dst, err := appendFields(dst, v, from)
	return append(dst, '}'), err
}

// appendFields appends the members of v to an object that was opened at from.
func appendFields(dst []byte, v reflect.Value, from int) ([]byte, error) {
	for _, f := range planOf(v.Type()) {
		value := v.Field(f.index)
		var err error
		switch {
		case f.embedded:
			if value.Kind() == reflect.Pointer {
				if value.IsNil() {
					continue
				}
				value = value.Elem()
			}
			dst, err = appendFields(dst, value, from)
		case f.omitEmpty && isEmpty(value):
			continue
		default:
			if len(dst) > from {
				dst = append(dst, ',')
			}
			dst, err = appendAs(append(dst, f.key...), value, f.as)
		}
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// isEmpty is the rule of encoding/json for omitempty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	default:
		return v.IsZero()
	}
}
