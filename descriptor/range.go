package descriptor

import "errors"

const (
	// MaxIndex is the highest index that a wildcard stands for.
	MaxIndex = 1<<31 - 1

	// MaxRange is the number of indices that may be expanded at once.
	MaxRange = 1_000_000
)

// The messages of a refused range are those of Bitcoin Core and meant for the
// client as they are.
var (
	// ErrRangeOrder reports a range whose end lies before its begin.
	ErrRangeOrder = errors.New( //nolint:staticcheck // Core's text
		"Range specified as [begin,end] must not have begin after end")

	// ErrRangeNegative reports a range that begins below zero.
	ErrRangeNegative = errors.New("Range should be greater or equal than 0") //nolint:staticcheck // Core's text

	// ErrRangeEnd reports a range that ends below zero or above [MaxIndex].
	ErrRangeEnd = errors.New("End of range is too high") //nolint:staticcheck // Core's text

	// ErrRangeSize reports a range of more than [MaxRange] indices.
	ErrRangeSize = errors.New("Range is too large") //nolint:staticcheck // Core's text
)

// CheckRange checks a range that was given as [begin,end], both included.
//
// Errors, in the order of the checks: [ErrRangeOrder], [ErrRangeNegative],
// [ErrRangeEnd], [ErrRangeSize].
func CheckRange(begin, end int64) error {
	if begin > end {
		return ErrRangeOrder
	}
	return checkBounds(begin, end)
}

// CheckRangeEnd checks a range that was given by its end alone and begins at 0.
//
// Errors: [ErrRangeEnd], [ErrRangeSize].
func CheckRangeEnd(end int64) error {
	return checkBounds(0, end)
}

func checkBounds(begin, end int64) error {
	switch {
	case begin < 0:
		return ErrRangeNegative
	case end < 0 || end > MaxIndex:
		return ErrRangeEnd
	case end-begin >= MaxRange:
		return ErrRangeSize
	}
	return nil
}
