// Package jsontree reads and writes JSON the way Bitcoin Core's UniValue does.
//
// A [Value] keeps what encoding/json forgets: the order of members, duplicate
// keys, and the text of every number, so that an id or an amount is given back
// as it came. [Parse] accepts exactly the texts that Core accepts; [Append]
// turns the Go value of a reply into the bytes Core would send.
//
// The package is pure. A Value may be read from several goroutines once
// nobody changes it any more.
package jsontree

import (
	"iter"
	"strconv"
)

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of JSON values. The zero Value is null.
const (
	Null Kind = iota
	Bool
	Object
	Array
	String
	Number
)

// String returns Core's word for the kind, as error messages have it.
func (k Kind) String() string {
	switch k {
	case Bool:
		return "bool"
	case Object:
		return "object"
	case Array:
		return "array"
	case String:
		return "string"
	case Number:
		return "number"
	default:
		return "null"
	}
}

// A Value is one node of a JSON tree. The nil *Value reads as null, so callers
// may treat an absent member like a null.
type Value struct {
	kind Kind
	own  bool      // nobody else has the memory of text
	text string    // Number: as written; String: decoded; Bool: "1" for true
	box  *children // Object and Array, nil when empty
}

// children are the elements of an array or the members of an object.
// It is apart from Value to keep the node of a scalar small: an array of
// short numbers costs 32 bytes for every two bytes of text.
type children struct {
	keys   []string // of an object, as long as values
	values []Value
}

// NewNull returns null.
func NewNull() *Value { return &Value{} }

// NewBool returns true or false.
func NewBool(b bool) *Value {
	if b {
		return &Value{kind: Bool, text: "1"}
	}
	return &Value{kind: Bool}
}

// NewString returns a string.
func NewString(s string) *Value { return &Value{kind: String, text: s} }

// NewInt returns a number.
func NewInt(n int64) *Value { return &Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// NewArray returns an array of copies of the given values.
func NewArray(values ...*Value) *Value {
	array := &Value{kind: Array}
	for _, v := range values {
		array.Append(v)
	}
	return array
}

// NewObject returns an object without members.
func NewObject() *Value { return &Value{kind: Object} }

// Append adds a copy of the node element at the end of the array v.
func (v *Value) Append(element *Value) {
	box := v.open()
	box.values = append(box.values, element.node())
}

// Add adds a member with a copy of the node member at the end of the object
// v. It does not look whether the key is there already.
func (v *Value) Add(key string, member *Value) {
	box := v.open()
	box.keys, box.values = append(box.keys, key), append(box.values, member.node())
}

// open returns the children of v, to be added to.
func (v *Value) open() *children {
	if v.box == nil {
		v.box = &children{}
	}
	return v.box
}

// node returns what v points to; nil is null.
func (v *Value) node() Value {
	if v == nil {
		return Value{}
	}
	return *v
}

// Kind returns the type of v.
func (v *Value) Kind() Kind {
	if v == nil {
		return Null
	}
	return v.kind
}

// IsNull reports whether v is null or absent.
func (v *Value) IsNull() bool { return v.Kind() == Null }

// Text returns the contents of a string or the text of a number, and the
// empty string for anything else.
func (v *Value) Text() string {
	if k := v.Kind(); k == String || k == Number {
		return v.text
	}
	return ""
}

// Len returns the number of elements or members, 0 for a scalar.
func (v *Value) Len() int {
	if v == nil || v.box == nil {
		return 0
	}
	return len(v.box.values)
}

// At returns the element or the value of the member with index i, nil when
// there is none.
func (v *Value) At(i int) *Value {
	if i < 0 || i >= v.Len() {
		return nil
	}
	return &v.box.values[i]
}

// Get returns the value of the first member with the given key, nil when
// there is none.
func (v *Value) Get(key string) *Value {
	for k, member := range v.Members() {
		if k == key {
			return member
		}
	}
	return nil
}

// Members yields the members of an object in their order, duplicates
// included; nothing when v is not an object.
func (v *Value) Members() iter.Seq2[string, *Value] {
	return func(yield func(string, *Value) bool) {
		if v.Kind() != Object {
			return
		}
		for i := range v.Len() {
			if !yield(v.box.keys[i], &v.box.values[i]) {
				return
			}
		}
	}
}

// Elements yields the elements of an array with their index; nothing when v
// is not an array.
func (v *Value) Elements() iter.Seq2[int, *Value] {
	return func(yield func(int, *Value) bool) {
		if v.Kind() != Array {
			return
		}
		for i := range v.Len() {
			if !yield(i, &v.box.values[i]) {
				return
			}
		}
	}
}
