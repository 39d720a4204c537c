package segment

import "testing"

// A record enters the catalog if it can be true of a filter behind all others. Else nothing changes.
func TestCatalogAdd(t *testing.T) {
	at := func(segment, offset uint32, block int) *record {
		return &record{position: position{segment, offset}, block: testBlock(0, block), height: 5, length: 10}
	}
	with := func(change func(*record)) *record {
		r := at(7, 500, 99)
		change(r)
		return r
	}
	const end = headerSize + 40 // of the last filter
	for name, test := range map[string]struct {
		r    *record
		want bool
	}{
		"right behind":           {at(7, end, 99), true},
		"behind a hole":          {at(7, end+1, 99), true},
		"over the last filter":   {at(7, end-1, 99), false},
		"the last filter":        {at(7, end-10, 99), false},
		"a segment before":       {at(6, 500, 99), false},
		"the next segment":       {at(8, headerSize, 99), true},
		"a later segment":        {at(17, 500, 99), true},
		"a known block":          {at(7, 500, 1), false},
		"inside the header":      {at(8, headerSize-1, 99), false},
		"below the first height": {with(func(r *record) { r.height = -1 }), false},
		"the first height":       {with(func(r *record) { r.height = 0 }), true},
		"no filter":              {with(func(r *record) { r.length = 0 }), false},
		"the longest filter":     {with(func(r *record) { r.length = maxFilter }), true},
		"too long a filter":      {with(func(r *record) { r.length = maxFilter + 1 }), false},
		"the last segment":       {at(maxSegment, 500, 99), true},
		"behind that":            {at(maxSegment+1, 500, 99), false},
		"the end of a segment":   {at(8, maxSegmentEnd-10, 99), true},
		"beyond it":              {at(8, maxSegmentEnd-9, 99), false},
	} {
		c := new(catalog)
		for i := range 4 {
			if !c.add(at(7, headerSize+10*uint32(i), i)) {
				t.Fatal("a filter is refused")
			}
		}
		slots, segments, before := len(c.slots), len(c.segments), c.end()
		if got := c.add(test.r); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		n, known := c.find(&test.r.block)
		if !test.want {
			if len(c.slots) != slots || len(c.segments) != segments || c.end() != before || known && int(n) >= slots {
				t.Errorf("%s: the catalog has changed", name)
			}
			continue
		}
		s := &c.slots[slots]
		if !known || int(n) != slots || c.positionOf(s) != test.r.position ||
			c.end() != (position{test.r.segment, test.r.offset + test.r.length}) {
			t.Errorf("%s: at %v, the end is %v", name, c.positionOf(s), c.end())
		}
	}
}
