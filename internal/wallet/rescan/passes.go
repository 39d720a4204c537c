package rescan

import "math"

// passes is which pass of a rescan is under way. The first one looks for all scripts.
// Each further pass looks for the scripts that came during the pass before, in the
// blocks that were done when the last of these scripts came.
type passes struct {
	known   int   // scripts that the passes before have looked for everywhere
	began   int   // scripts at the beginning of this one
	growth  int32 // the highest block that scripts came with; 0: there is none
	end     int32 // first height after this pass; 0: it goes to the end of the rescan
	count   int   // passes before
	reached int32 // highest block that any has done
	shown   float64
}

// grown notes that scripts have come which the blocks below a height were not tested
// with. The blocks above are tested with the new scripts, because this pass now goes
// on to the end.
func (p *passes) grown(height int32) {
	p.growth = max(p.growth, height)
	p.end = 0
}

// last returns the last height of this pass of a rescan with the given one.
func (p *passes) last(ofAll int32) int32 {
	if p.end > 0 {
		return min(p.end-1, ofAll)
	}
	return ofAll
}

// more reports whether blocks from a height on lack scripts.
func (p *passes) more(from int32) bool { return p.count > 0 || p.growth > from }

// next begins the next pass, if there has to be one, of a rescan from a height that has
// come to another.
func (p *passes) next(from, next int32, scripts int) bool {
	p.reached = max(p.reached, next-1)
	if p.growth <= from {
		return false
	}
	*p = passes{
		known: p.began, began: scripts, end: p.growth, count: p.count + 1, reached: p.reached, shown: p.shown,
	}
	return true
}

// progress returns the progress of the rescan from the progress of this pass. It never
// falls: each further pass takes half of the rest.
func (p *passes) progress(part float64) float64 {
	left := math.Pow(0.5, float64(p.count))
	width := left
	if p.growth > 0 {
		width /= 2
	}
	p.shown = max(p.shown, 1-left+part*width)
	return p.shown
}
