package arg

import "github.com/seed61375155/trawl/internal/jsontree"

// Verbosity reads a verbosity, for which older clients send a boolean: true is
// 1. Without a value it is def.
func Verbosity(v *jsontree.Value, def int32) (int32, error) {
	switch v.Kind() {
	case jsontree.Null:
		return def, nil
	case jsontree.Bool:
		if on, _ := v.AsBool(); on {
			return 1, nil
		}
		return 0, nil
	default:
		return v.AsInt32()
	}
}
