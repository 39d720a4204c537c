package heighttable

import (
	"bytes"
	"encoding/binary"
)

// Mend sets the checksums of the header, of the list of sections and of buckets, so that a fuzzer gets behind them.
func Mend(raw []byte) []byte {
	le := binary.LittleEndian
	raw = bytes.Clone(raw)
	if len(raw) < headSize {
		return raw
	}
	copy(raw, magic)
	le.PutUint32(raw[8:], version)
	fix := func() { le.PutUint32(raw[headSize-4:], checksum(0, raw[:headSize-4])) }
	if at := le.Uint64(raw[40:]); at < uint64(len(raw)) {
		le.PutUint32(raw[48:], checksum(0, raw[at:]))
	}
	fix()
	t, err := Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return raw
	}
	for n := range t.infos {
		s := t.section(n)
		if s.info.keys == 0 {
			continue
		}
		data := s.info.offset + 4*s.grid.buckets
		before := uint64(0)
		for b := range s.grid.buckets {
			end := uint64(le.Uint32(raw[s.info.offset+4*b:]))
			if end < before+4 || end > uint64(s.info.data) {
				break
			}
			bucket := raw[data+before : data+end]
			le.PutUint32(bucket[len(bucket)-4:], checksum(place(n, b), bucket[:len(bucket)-4]))
			before = end
		}
	}
	return raw
}
