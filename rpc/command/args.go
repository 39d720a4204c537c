package command

import "github.com/seed61375155/trawl/internal/jsontree"

// Args are the arguments of one call, with the caller.
//
// The typed readers give Core's errors for a value that is not what was asked
// for; a method returns them as they are. An absent argument reads as null.
type Args struct {
	// User is the name the caller logged in with.
	User string

	// WalletPath is the wallet chosen by the path /wallet/<name>, nil when
	// the path chose none. The empty name is a name.
	WalletPath *string

	// Table is the table that the command is called from.
	Table *Table

	values []*jsontree.Value
}

// NewArgs returns arguments in positional order, for tests of methods.
func NewArgs(values ...*jsontree.Value) *Args { return &Args{values: values} }

// Len returns how many arguments were given, explicit nulls included.
func (a *Args) Len() int { return len(a.values) }

// Value returns argument i, nil (which reads as null) when it is absent.
func (a *Args) Value(i int) *jsontree.Value {
	if i < 0 || i >= len(a.values) {
		return nil
	}
	return a.values[i]
}

// Has reports whether argument i was given and is not null.
func (a *Args) Has(i int) bool { return !a.Value(i).IsNull() }

// String returns argument i as a string.
func (a *Args) String(i int) (string, error) { return a.Value(i).AsString() }

// Bool returns argument i as a boolean.
func (a *Args) Bool(i int) (bool, error) { return a.Value(i).AsBool() }

// Int32 returns argument i as an integer of 32 bits, the type of heights.
func (a *Args) Int32(i int) (int32, error) { return a.Value(i).AsInt32() }

// Int64 returns argument i as an integer of 64 bits.
func (a *Args) Int64(i int) (int64, error) { return a.Value(i).AsInt64() }

// Uint32 returns argument i as an unsigned integer of 32 bits.
func (a *Args) Uint32(i int) (uint32, error) { return a.Value(i).AsUint32() }

// Array returns argument i as an array.
func (a *Args) Array(i int) (*jsontree.Value, error) { return a.Value(i).AsArray() }

// Object returns argument i as an object.
func (a *Args) Object(i int) (*jsontree.Value, error) { return a.Value(i).AsObject() }

// Amount returns argument i as an amount from 0 to maximum.
func (a *Args) Amount(i int, maximum jsontree.Amount) (jsontree.Amount, error) {
	return a.Value(i).AsAmount(maximum)
}

// StringOr returns argument i as a string, def when it is absent or null.
func (a *Args) StringOr(i int, def string) (string, error) {
	return or(a, i, def, (*jsontree.Value).AsString)
}

// BoolOr returns argument i as a boolean, def when it is absent or null.
func (a *Args) BoolOr(i int, def bool) (bool, error) {
	return or(a, i, def, (*jsontree.Value).AsBool)
}

// Int32Or returns argument i as an integer, def when it is absent or null.
func (a *Args) Int32Or(i int, def int32) (int32, error) {
	return or(a, i, def, (*jsontree.Value).AsInt32)
}

// Int64Or returns argument i as an integer, def when it is absent or null.
func (a *Args) Int64Or(i int, def int64) (int64, error) {
	return or(a, i, def, (*jsontree.Value).AsInt64)
}

func or[T any](a *Args, i int, def T, read func(*jsontree.Value) (T, error)) (T, error) {
	if !a.Has(i) {
		return def, nil
	}
	return read(a.Value(i))
}
