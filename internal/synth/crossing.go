package synth

// FindCrossing returns up to which number from 1 on, and below limit, the first of two
// ways is faster, to about a twelfth, and 0 where it is not at 1. It is asked for
// some numbers only: first for each about twice as large as the one before, then
// for such between the last two.
func FindCrossing(limit int, faster func(k int) bool) int {
	last, next := 0, 1
	for next < limit && faster(next) {
		last, next = next, 2*next
	}
	next = min(next, limit)
	for next-last > 1+last/12 {
		if middle := (last + next) / 2; faster(middle) {
			last = middle
		} else {
			next = middle
		}
	}
	return last
}
