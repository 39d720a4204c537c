package jsontree

import (
	"fmt"
	"strconv"
)

// A TypeError reports that a value has not the kind that was asked for.
type TypeError struct{ Got, Want Kind }

// Error implements error with Core's words.
func (e TypeError) Error() string {
	return fmt.Sprintf("JSON value of type %v is not of expected type %v", e.Got, e.Want)
}

// A ConversionError is a value of the right kind with the wrong contents. Its
// text is Core's.
type ConversionError string

// ErrIntegerRange reports a number that is no integer, or one too large.
const ErrIntegerRange ConversionError = "JSON integer out of range"

// Error implements error.
func (e ConversionError) Error() string { return string(e) }

// want returns a TypeError unless v is of the given kind.
func (v *Value) want(k Kind) error {
	if got := v.Kind(); got != k {
		return TypeError{Got: got, Want: k}
	}
	return nil
}

// AsString returns the contents of a string. The error is a [TypeError].
func (v *Value) AsString() (string, error) {
	if err := v.want(String); err != nil {
		return "", err
	}
	return v.text, nil
}

// AsBool returns a boolean. The error is a [TypeError].
func (v *Value) AsBool() (bool, error) {
	if err := v.want(Bool); err != nil {
		return false, err
	}
	return v.text != "", nil
}

// AsArray returns v when it is an array, else a [TypeError].
func (v *Value) AsArray() (*Value, error) { return v, v.want(Array) }

// AsObject returns v when it is an object, else a [TypeError].
func (v *Value) AsObject() (*Value, error) { return v, v.want(Object) }

// AsInt64 returns an integer of 64 bits. Core's rule: the number has neither
// fraction nor exponent, so 1.0 and 1e0 are not integers. The error is a
// [TypeError] or [ErrIntegerRange].
func (v *Value) AsInt64() (int64, error) { return v.integer(64) }

// AsInt32 is [Value.AsInt64] for 32 bits.
func (v *Value) AsInt32() (int32, error) {
	n, err := v.integer(32)
	return int32(n), err
}

func (v *Value) integer(bits int) (int64, error) {
	if err := v.want(Number); err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(v.text, 10, bits)
	if err != nil {
		return 0, ErrIntegerRange
	}
	return n, nil
}

// AsUint64 returns an unsigned integer of 64 bits; -0 is none. The error is a
// [TypeError] or [ErrIntegerRange].
func (v *Value) AsUint64() (uint64, error) { return v.unsigned(64) }

// AsUint32 is [Value.AsUint64] for 32 bits.
func (v *Value) AsUint32() (uint32, error) {
	n, err := v.unsigned(32)
	return uint32(n), err
}

func (v *Value) unsigned(bits int) (uint64, error) {
	if err := v.want(Number); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(v.text, 10, bits)
	if err != nil {
		return 0, ErrIntegerRange
	}
	return n, nil
}

// AsFloat64 returns the nearest double of a number. The error is a
// [TypeError], or a [ConversionError] for one beyond the largest double.
// Never use it for amounts.
func (v *Value) AsFloat64() (float64, error) {
	if err := v.want(Number); err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(v.text, 64)
	if err != nil {
		return 0, ConversionError("JSON double out of range")
	}
	return f, nil
}
