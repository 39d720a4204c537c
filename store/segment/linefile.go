package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/seed61375155/trawl/internal/vfs"
)

// A file of probe lines is a header, a directory and the lines:
//
//	0   8   magic
//	8   4   version of files of lines, little-endian as all numbers
//	12  4   number of the group
//	16  4   number of filters
//	20  4   CRC-32 (IEEE) of the directory
//	24  32  SHA-256 over block, length and CRC-32 of each filter
//	56  4   zero
//	60  4   CRC-32 (IEEE) of the 60 bytes before
//	64      for each filter: items (4), bytes of its lines (4), their CRC-32 (4)
//	        zeros up to a multiple of 64, then the lines back to back
const (
	linesVersion = 1
	entrySize    = 12
)

var linesMagic = []byte("TRAWLPRB")

var errForeignLines = errors.New("lines of other filters")

func checksum(b []byte) uint32 { return crc32.ChecksumIEEE(b) }

// linesStart is where the lines begin.
func linesStart(filters int) int { return (headerSize + filters*entrySize + 63) / 64 * 64 }

// appendLinesHeader appends header and directory of a group.
func appendLinesHeader(b []byte, number int, slots []slot, entries []lineEntry) []byte {
	directory := make([]byte, 0, linesStart(len(entries)))
	for i := range entries {
		e := &entries[i]
		directory = binary.LittleEndian.AppendUint32(directory, e.items)
		directory = binary.LittleEndian.AppendUint32(directory, uint32(len(e.lines)))
		directory = binary.LittleEndian.AppendUint32(directory, e.sum)
	}
	print := fingerprint(slots)
	b = append(b, linesMagic...)
	b = binary.LittleEndian.AppendUint32(b, linesVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(number))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(entries)))
	b = binary.LittleEndian.AppendUint32(b, checksum(directory))
	b = append(b, print[:]...)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, checksum(b))
	b = append(b, directory...)
	return append(b, make([]byte, linesStart(len(entries))-len(b))...)
}

// storeGroup writes the lines of a group to its file and syncs it, and returns
// the mapped group. Where files cannot be mapped it returns the one given.
func (s *Store) storeGroup(v *View, n int, g *lineGroup) (*lineGroup, error) {
	slots := v.slots[n*groupSize : (n+1)*groupSize]
	path := linesPath(s.dir, n)
	out := appendLinesHeader(nil, n, slots, g.entries)
	for i := range g.entries {
		out = append(out, g.entries[i].lines...)
	}
	if err := vfs.ReplaceFile(s.fs, path, out, 0o600); err != nil {
		return nil, err
	}
	mapped, err := openGroup(s.fs, path, n, slots)
	if errors.Is(err, errNoMapping) {
		return g, nil
	}
	return mapped, err
}

var errNoMapping = errors.New("file cannot be mapped")

// openGroup maps a file of lines, and checks header and directory. The lines
// themselves are checked when they are used.
func openGroup(fs vfs.FS, path string, n int, slots []slot) (*lineGroup, error) {
	f, err := openFile(fs, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, linesStart(len(slots)))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, short(err)
	}
	size, err := checkLines(head, n, slots)
	if err != nil {
		return nil, err
	}
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if stat.Size() != size {
		return nil, errSize
	}
	mem := mmapRandom(f, size)
	if mem == nil {
		return nil, errNoMapping
	}
	return newGroup(entriesOf(head, mem, len(slots)), mem), nil
}

// entriesOf returns the entries of a directory that was checked.
func entriesOf(head, mem []byte, n int) []lineEntry {
	entries, rest := make([]lineEntry, n), mem[len(head):]
	for i := range entries {
		d := head[headerSize+i*entrySize:]
		length := binary.LittleEndian.Uint32(d[4:])
		entries[i] = lineEntry{rest[:length:length], binary.LittleEndian.Uint32(d), binary.LittleEndian.Uint32(d[8:])}
		rest = rest[length:]
	}
	return entries
}

// maxLines bounds the lines of one filter.
const maxLines = 1 << 24

// checkLines checks header and directory, and returns how long the file has to be.
func checkLines(head []byte, n int, slots []slot) (size int64, err error) {
	directory := head[headerSize:][:len(slots)*entrySize]
	print := fingerprint(slots)
	switch le := binary.LittleEndian; {
	case !bytes.Equal(
		head[:8], linesMagic,
	), le.Uint32(head[60:]) != checksum(head[:60]), le.Uint32(head[8:]) != linesVersion:
		return 0, errHeader
	case le.Uint32(head[12:]) != uint32(n), le.Uint32(head[16:]) != uint32(len(slots)), !bytes.Equal(
		head[24:56], print[:],
	):
		return 0, errForeignLines
	case le.Uint32(head[20:]) != checksum(directory):
		return 0, errChecksum
	}
	size = int64(len(head))
	for i := range slots {
		length := binary.LittleEndian.Uint32(directory[i*entrySize+4:])
		if length > maxLines {
			return 0, errHeader
		}
		size += int64(length)
	}
	return size, nil
}
