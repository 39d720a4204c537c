package filters

// readsAll is the assumed number of bytes that reading a part of the code costs: the
// page that it lies in, and the bytes that the system reads ahead. [Filter.ReadsMost]
// uses it to decide whether choosing parts pays.
const readsAll = 20 << 10

// ReadsLines reports whether matchers that work by the method look so many scripts up
// by the probe lines of a filter, and do not decode it.
func (m Method) ReadsLines(f *Filter, scripts int) bool {
	switch {
	case len(f.Lines) == 0 || m.layout == LayoutPlain:
		return false
	case m.layout == LayoutProbe:
		return true
	}
	return scripts <= m.kernel().probeLimit(int(f.N))
}

// ReadsMost reports whether looking so many scripts up by the probe lines of a filter
// reads most of its pages: a script needs a part with a probability of 2/7.
func (f *Filter) ReadsMost(scripts int) bool { return scripts*readsAll*2/7 >= len(f.Data) }

// EachPart calls part with the parts of Data that looking the query up by the probe
// lines reads. It is for reading ahead: nothing is checked, so that damaged lines
// give other parts, or none.
func (q *Query) EachPart(f *Filter, part func(b []byte)) {
	size := compactLen(f.N)
	if f.N == 0 || len(f.Lines) != LinesSize(f.N) || len(f.Data) < size {
		return
	}
	key, code := keyOf(&f.Block), f.Data[size:]
	for script := range q.Scripts() {
		v := reduce(sipHash(key, script), uint64(f.N)*M)
		line := (*[lineSize]byte)(f.Lines[v>>lineBits*lineSize:])
		if slotOf(line, v) == 0 {
			continue
		}
		p := placeOf(line, v, 0)
		if to := min((p.end+walkAhead)/8+8, uint32(len(code))); p.base/8 < to {
			part(code[p.base/8 : to])
		}
	}
}
