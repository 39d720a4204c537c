package segment

import "testing"

// A record that can be true of a segment, and those that cannot, at the bounds.
func TestValidRecord(t *testing.T) {
	least := record{position: position{0, headerSize}, height: 0, length: 1}
	for name, tc := range map[string]struct {
		change func(*record)
		want   bool
	}{
		"the least":                {func(*record) {}, true},
		"the last segment":         {func(r *record) { r.segment = maxSegment }, true},
		"one segment more":         {func(r *record) { r.segment = maxSegment + 1 }, false},
		"a height below 0":         {func(r *record) { r.height = -1 }, false},
		"the greatest height":      {func(r *record) { r.height = 1<<31 - 1 }, true},
		"no bytes":                 {func(r *record) { r.length = 0 }, false},
		"the longest":              {func(r *record) { r.length = maxFilter }, true},
		"a byte longer":            {func(r *record) { r.length = maxFilter + 1 }, false},
		"in the header":            {func(r *record) { r.offset = headerSize - 1 }, false},
		"at the end":               {func(r *record) { r.offset = maxSegmentEnd - 1 }, true},
		"behind the end":           {func(r *record) { r.offset = maxSegmentEnd }, false},
		"up to the end":            {func(r *record) { r.offset, r.length = maxSegmentEnd-9, 9 }, true},
		"over the end":             {func(r *record) { r.offset, r.length = maxSegmentEnd-9, 10 }, false},
		"an end of more than 2^32": {func(r *record) { r.offset, r.length = 1<<32-1, 2 }, false},
	} {
		r := least
		if tc.change(&r); r.valid() != tc.want {
			t.Errorf("%s: %v", name, r.valid())
		}
	}
}
