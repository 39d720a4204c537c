package jsontree

import "unsafe"

// Wipe overwrites the strings in v that [Parse] has read, but not the keys of
// objects. Nobody may use one of them afterwards: it has changed.
func (v *Value) Wipe() {
	switch v.Kind() {
	case String:
		// The runtime shares the memory of all strings of one byte.
		if v.own && len(v.text) > 1 {
			clear(unsafe.Slice(unsafe.StringData(v.text), len(v.text)))
		}
	case Array, Object:
		for i := range v.Len() {
			v.box.values[i].Wipe()
		}
	default:
	}
}
