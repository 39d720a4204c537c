package linear

import "slices"

// A Chunk is a part of a linearization that is mined whole.
type Chunk struct {
	FeeSize

	End int // index in the linearization of what follows
}

// Chunks cuts a linearization into chunks of falling fee rates: each is what of the rest pays most.
func (g *Graph) Chunks(list []int) []Chunk {
	var chunks []Chunk
	for at, i := range list {
		c := Chunk{g.txs[i].FeeSize, at + 1}
		for n := len(chunks); n > 0 && c.CompareRate(chunks[n-1].FeeSize) > 0; n-- {
			c.FeeSize = c.Plus(chunks[n-1].FeeSize)
			chunks = chunks[:n-1]
		}
		chunks = append(chunks, c)
	}
	return chunks
}

// Diagram sorts the sums of chunks as a diagram has them: by fee rate, the highest first.
func Diagram(chunks []FeeSize) {
	slices.SortFunc(chunks, func(a, b FeeSize) int {
		if order := b.CompareRate(a); order != 0 {
			return order
		}
		return int(a.Size - b.Size)
	})
}

// Compare compares two diagrams. Its order is above 0 if a is at no size below b and at some above
// it. Diagrams that are each above the other somewhere cannot be compared.
func Compare(a, b []FeeSize) (order int, ok bool) {
	var sumA, sumB FeeSize
	aboveA, aboveB := false, false
	for len(a) > 0 || len(b) > 0 {
		// The nearer of the next corners is held against the line between two corners of the other.
		var side int
		switch {
		case len(b) == 0 || len(a) > 0 && sumA.Size+a[0].Size <= sumB.Size+b[0].Size:
			sumA = sumA.Plus(a[0])
			side = against(sumA.Minus(sumB), b)
			a = a[1:]
		default:
			sumB = sumB.Plus(b[0])
			side = -against(sumB.Minus(sumA), a)
			b = b[1:]
		}
		aboveA, aboveB = aboveA || side > 0, aboveB || side < 0
		if aboveA && aboveB {
			return 0, false
		}
	}
	switch {
	case aboveA:
		return 1, true
	case aboveB:
		return -1, true
	}
	return 0, true
}

// against compares the way to a corner with the next line of a diagram, which is level at its end.
func against(way FeeSize, rest []FeeSize) int {
	if len(rest) == 0 {
		return way.CompareRate(FeeSize{0, 1})
	}
	return way.CompareRate(rest[0])
}
