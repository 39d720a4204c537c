package jsontree

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// ErrUnsupported reports a Go value that has no JSON form here.
var ErrUnsupported = errors.New("no JSON form")

// An Appender writes itself as JSON, as [*Value] and [Amount] do.
type Appender interface {
	AppendJSON(dst []byte) []byte
}

// A Member is one member of a [Members] list.
type Member struct {
	Key   string
	Value any
}

// Members is an object whose keys are known only at run time, in the order
// they are to be written.
type Members []Member

// Append appends v as compact JSON in Core's form. The forms are:
//
//   - nil, and nil pointers and interfaces, are null; a nil slice is [].
//   - A struct is an object. Its members come in the order of the fields, and
//     are named by their json tag (or the field's name). A tag "-" leaves the
//     field out and "omitempty" works as in encoding/json. An embedded struct
//     without a tag is part of its outer struct. A map with string keys is an
//     object in the order of the keys. [Members] is an object.
//   - Integers, booleans and strings are what they are; a float64 has up to
//     16 significant digits.
//   - An [Appender] writes itself. A byte array with a String method, as a
//     hash has, is that string; other bytes are refused, since nothing says
//     in which order and base they should be shown.
//
// Nothing is escaped but what [AppendString] escapes. The error wraps
// [ErrUnsupported].
func Append(dst []byte, v any) ([]byte, error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	return appendReflect(dst, reflect.ValueOf(v))
}

func appendReflect(dst []byte, v reflect.Value) ([]byte, error) {
	return appendAs(dst, v, formOf(v.Type()))
}

// appendAs appends a value of a type in its form.
func appendAs(dst []byte, v reflect.Value, as form) ([]byte, error) {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() {
		return append(dst, "null"...), nil
	}
	switch as {
	case asAppender:
		return pointed(v).(Appender).AppendJSON(dst), nil
	case asText:
		return AppendString(dst, pointed(v).(fmt.Stringer).String()), nil
	case asMembers:
		return appendMembers(dst, v.Interface().(Members))
	case asKind:
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return appendReflect(dst, v.Elem())
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.AppendUint(dst, v.Uint(), 10), nil
	case reflect.Float64:
		return appendFloat(dst, v.Float())
	case reflect.String:
		return AppendString(dst, v.String()), nil
	case reflect.Slice, reflect.Array:
		return appendList(dst, v)
	case reflect.Map:
		return appendMap(dst, v)
	case reflect.Struct:
		return appendStruct(dst, v)
	default:
		return dst, fmt.Errorf("%v: %w", v.Type(), ErrUnsupported)
	}
}

// appendFloat writes up to 16 significant digits and drops trailing zeros, as
// a C++ stream of that precision does.
func appendFloat(dst []byte, f float64) ([]byte, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return dst, fmt.Errorf("%v: %w", f, ErrUnsupported)
	}
	return strconv.AppendFloat(dst, f, 'g', 16, 64), nil
}

func appendList(dst []byte, v reflect.Value) ([]byte, error) {
	of := v.Type().Elem()
	if of.Kind() == reflect.Uint8 {
		return dst, fmt.Errorf("bytes %v: %w", v.Type(), ErrUnsupported)
	}
	dst = append(dst, '[')
	as, from := formOf(of), len(dst)
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = growFor(dst, from, i, v.Len())
		var err error
		if dst, err = appendAs(dst, v.Index(i), as); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// growFor makes room for the rest of a long list, of which the first elements take what
// is behind from: by their size, but no more than what is there already. To grow by
// quarters, as append does, copies a large text four times.
func growFor(dst []byte, from, done, all int) []byte {
	const often, large = 64, 64 << 10
	if done == 0 || done%often != 0 || len(dst) < large {
		return dst
	}
	need := (len(dst) - from) / done * (all - done)
	if free := cap(dst) - len(dst); free >= need || free > len(dst)/often {
		return dst
	}
	return slices.Grow(dst, min(need+need/8, len(dst)))
}

func appendMembers(dst []byte, members Members) ([]byte, error) {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, m.Key), ':')
		var err error
		if dst, err = Append(dst, m.Value); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendMap(dst []byte, v reflect.Value) ([]byte, error) {
	if v.Type().Key().Kind() != reflect.String {
		return dst, fmt.Errorf("%v: %w", v.Type(), ErrUnsupported)
	}
	var members Members
	for iter := v.MapRange(); iter.Next(); {
		members = append(members, Member{iter.Key().String(), iter.Value().Interface()})
	}
	slices.SortFunc(members, func(a, b Member) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return appendMembers(dst, members)
}
