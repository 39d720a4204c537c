package heighttable

import "slices"

const (
	digitBits = 11
	fewToSort = 512 // elements that are sorted faster by comparing them
)

// Sort returns the elements in order, each once. Elements of a key have come in the order of their heights, as they
// do from one block after the other; else it takes longer. All keys are the same in the bits above the lowest span.
// The memory of both slices is used.
func Sort(elements, other []Element, span uint) []Element {
	if len(elements) < fewToSort {
		slices.Sort(elements)
		return slices.Compact(elements)
	}
	other = slices.Grow(other[:0], len(elements))[:len(elements)]
	for shift := uint(heightBits); shift < heightBits+span; shift += digitBits {
		digit := func(e Element) Element { return e >> shift & (1<<digitBits - 1) }
		var starts [1 << digitBits]int
		for _, e := range elements {
			starts[digit(e)]++
		}
		at := 0
		for i, n := range starts {
			starts[i] = at
			at += n
		}
		for _, e := range elements {
			d := digit(e)
			other[starts[d]] = e
			starts[d]++
		}
		elements, other = other, elements
	}
	if !slices.IsSorted(elements) {
		slices.Sort(elements)
	}
	return slices.Compact(elements)
}

// SpanOf returns how many bits tell the keys of one of so many sections apart.
func SpanOf(sections int) uint {
	span := uint(KeyBits)
	for ; sections > 1; sections /= 2 {
		span--
	}
	return span
}
