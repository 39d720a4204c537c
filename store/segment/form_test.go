package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// A segment is as the comment on its form says: older programs have written such files.
func TestSegmentFile(t *testing.T) {
	s, entries := newStore(t, 40)
	le, at := binary.LittleEndian, 0
	for number, info := range s.Segments() {
		want := []byte("TRAWLFLT")
		want = le.AppendUint32(want, 1)
		want = le.AppendUint32(want, uint32(number))
		want = append(want, make([]byte, 44)...)
		want = le.AppendUint32(want, crc32.ChecksumIEEE(want))
		for range info.Filters {
			want = append(want, entries[at].Filter...)
			at++
		}
		if !bytes.Equal(mustRead(t, info.Path), append(want, make([]byte, 64)...)) {
			t.Errorf("segment %d has another form", number)
		}
	}
	if at != len(entries) {
		t.Errorf("%d of %d filters are in segments", at, len(entries))
	}
}

// A file of a range filter is as the comment on its form says.
func TestRangeFile(t *testing.T) {
	s := openRanged(t, t.TempDir(), true)
	entries := testChain(2 * groupSize)
	mustAppend(t, s, entries)
	fillRanges(t, s)
	key, _ := s.RangeKey()
	le := binary.LittleEndian
	for number := range 2 {
		var filters []byte
		for i := range groupSize {
			e := &entries[number*groupSize+i]
			filters = append(filters, e.Block[:]...)
			filters = le.AppendUint32(filters, uint32(len(e.Filter)))
			filters = le.AppendUint32(filters, crc32.ChecksumIEEE(e.Filter))
		}
		sum, id := sha256.Sum256(filters), sha256.Sum256(append([]byte("range filter key "), key[:]...))
		data := bytes.Repeat(entries[number*groupSize].Block[:], 3)
		want := []byte("TRAWLRNG")
		for _, n := range []uint32{1, uint32(number), groupSize, crc32.ChecksumIEEE(data)} {
			want = le.AppendUint32(want, n)
		}
		want = append(append(want, sum[:]...), id[:16]...)
		want = append(le.AppendUint64(want, uint64(len(data))), make([]byte, 12)...)
		want = append(le.AppendUint32(want, crc32.ChecksumIEEE(want)), data...)
		if !bytes.Equal(mustRead(t, rangePath(s.dir, number)), want) {
			t.Errorf("range %d has another form", number)
		}
	}
	mustClose(t, s)
}
