package segment

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
)

// fuzzSlots are the filters of which the files of fuzz targets are.
func fuzzSlots() (slots []slot) {
	for _, e := range testChain(3) {
		slots = append(slots, slot{
			block: e.Block, prev: e.Prev, height: e.Height, length: uint32(len(e.Filter)), crc: checksum(e.Filter),
		})
	}
	return slots
}

// FuzzLinesFile opens arbitrary bytes as a file of probe lines, as they are and
// with a header that is right. The lines taken must be all bytes of the file,
// in order.
func FuzzLinesFile(f *testing.F) {
	slots := fuzzSlots()
	entries := []lineEntry{{make([]byte, 64), 5, checksum(make([]byte, 64))}, {nil, 0, 0}, {make([]byte, 192), 9, 7}}
	good := appendLinesHeader(nil, 4, slots, entries)
	for _, e := range entries {
		good = append(good, e.lines...)
	}
	start := linesStart(len(slots))
	f.Add(good)
	f.Add(good[:start])
	f.Add(good[:headerSize])
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "lines")
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, signed := range []bool{false, true} {
			if signed && len(file) >= start {
				file = slices.Clone(file)
				directory := file[headerSize:][:len(slots)*entrySize]
				copy(file, appendLinesHeader(nil, 4, slots, nil)[:headerSize])
				binary.LittleEndian.PutUint32(file[16:], uint32(len(slots)))
				binary.LittleEndian.PutUint32(file[20:], checksum(directory))
				binary.LittleEndian.PutUint32(file[60:], checksum(file[:60]))
			}
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			g, err := openGroup(vfs.OS, path, 4, slots)
			if err != nil {
				continue
			}
			rest := file[start:]
			for i, e := range g.entries {
				if len(e.lines) > len(rest) || !slices.Equal(e.lines, rest[:len(e.lines)]) {
					t.Fatalf("lines %d of %d bytes are not those of the file", i, len(e.lines))
				}
				rest = rest[len(e.lines):]
			}
			if len(rest) > 0 || len(g.entries) != len(slots) {
				t.Fatalf("%d bytes left over after %d entries", len(rest), len(g.entries))
			}
			g.release()
		}
	})
}

// FuzzRangeFile does so with a file of a range filter.
func FuzzRangeFile(f *testing.F) {
	slots := fuzzSlots()
	s := &Store{fs: vfs.OS}
	data := []byte("a filter")
	good := append(s.appendRangeHeader(nil, 4, slots, data), data...)
	f.Add(good)
	f.Add(good[:rangeHeader])
	f.Add(append(good[:rangeHeader-8:rangeHeader-8], 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))
	f.Add([]byte{})
	path := filepath.Join(f.TempDir(), "range")
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, signed := range []bool{false, true} {
			if signed && len(file) >= rangeHeader {
				file = slices.Clone(file)
				length := slices.Clone(file[72:80])
				copy(file, s.appendRangeHeader(nil, 4, slots, nil))
				copy(file[72:], length)
				binary.LittleEndian.PutUint32(file[92:], checksum(file[:92]))
			}
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := s.openRange(path, 4, slots)
			if err != nil {
				continue
			}
			if !slices.Equal(r.mem, file) {
				t.Fatalf("got %d bytes of %d", len(r.mem), len(file))
			}
			r.release()
		}
	})
}
