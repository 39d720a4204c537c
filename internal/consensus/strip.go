package consensus

// Strip appends a block without the witnesses of its transactions to dst. The transactions stand in raw
// from at on, after their count, and end with raw; the bytes before them are copied unchanged. The
// error is [ErrMalformed] where raw cannot be read.
func Strip(dst, raw []byte, at int) ([]byte, error) {
	r := readerAt(raw, at)
	n := r.size()
	if r.failed {
		return nil, ErrMalformed
	}
	dst = append(dst, raw[:r.at]...)
	for ; n > 0; n-- {
		s := r.span()
		if r.failed {
			return nil, ErrMalformed
		}
		dst = s.appendBase(dst, raw)
	}
	if r.at != len(raw) {
		return nil, ErrMalformed
	}
	return dst, nil
}
