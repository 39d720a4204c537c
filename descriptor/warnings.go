package descriptor

import "fmt"

// The parts of the number of older() (BIP68).
const (
	lockValue = 0xffff  // blocks, or units of 512 seconds
	lockIsAge = 1 << 22 // the value counts units of 512 seconds
)

// Warnings describes misleading parts of a descriptor in the words of Bitcoin Core 31. These are relative lock times
// that lock for less than they say, or not at all.
func (d *Descriptor) Warnings() []string {
	var all []string
	for _, lock := range appendLocks(nil, d.root) {
		if text := lockWarning(lock); text != "" {
			all = append(all, text)
		}
	}
	return all
}

// appendLocks appends the numbers of all older() within an expression.
func appendLocks(locks []uint32, s script) []uint32 {
	leaf := func(leaf script) { locks = appendLocks(locks, leaf) }
	switch s := s.(type) {
	case *policy:
		return append(locks, s.expression.RelativeLocks()...)
	case *wrapped:
		return appendLocks(locks, s.inner)
	case *taproot:
		s.tree.each(leaf)
	case *merkle:
		s.tree.each(leaf)
	}
	return locks
}

// lockWarning returns the warning of a number of older(), if there is any. Core is silent about the lock of no time.
func lockWarning(lock uint32) string {
	switch value := lock &^ lockIsAge; {
	case value == 0:
		return fmt.Sprintf("time-based relative locktime: older(%d) locks for no time", lock)
	case value <= lockValue:
		return ""
	case lock&lockIsAge != 0:
		return fmt.Sprintf("time-based relative locktime: older(%d) > (65535 * 512) seconds is unsafe", lock)
	default:
		return fmt.Sprintf("height-based relative locktime: older(%d) > 65535 blocks is unsafe", lock)
	}
}
