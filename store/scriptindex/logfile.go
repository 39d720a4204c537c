package scriptindex

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/scriptindex/heighttable"
)

// Kinds of records.
const (
	recordBlock = 1 // a block was added
	recordCut   = 2 // the store is back at a block
)

const (
	logHead    = 12
	recordHead = 1 + 4 + chainhash.HashSize + 4
	keySize    = heighttable.KeyBits / 8
	maxLog     = 1 << 31
)

var (
	logMagic   = []byte("TRAWLSCL")
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// A logFile has the blocks that are in no table, as they were at the last Sync. Each record's checksum is over all
// before it, too. So the beginning of a log is always right, and what follows is cut off.
type logFile struct {
	number uint32
	file   vfs.File // nil: none
	end    int64
	sum    uint32 // of the last record
	blocks int    // of the pending blocks that are in it
	wasCut bool   // it has others behind them, or another best block
	broken bool   // nothing is written to it any more
}

// cut notes that the first n pending blocks are left.
func (l *logFile) cut(n int) {
	l.blocks = min(l.blocks, n)
	l.wasCut = true
}

func (l *logFile) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// appendRecord appends a record, and returns its checksum.
func appendRecord(b []byte, sum uint32, kind byte, at Position, keys []Key) ([]byte, uint32) {
	start := len(b)
	b = append(b, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(at.Height))
	b = append(b, at.Hash[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(keys)))
	for _, k := range keys {
		b = append(b, byte(k), byte(k>>8), byte(k>>16), byte(k>>24), byte(k>>32))
	}
	sum = crc32.Update(sum, castagnoli, b[start:])
	return binary.LittleEndian.AppendUint32(b, sum), sum
}

// A record is one of a log.
type record struct {
	kind byte
	at   Position
	keys []Key
	size int
	sum  uint32
}

// parseRecord reads the record at the beginning of b, behind one with a checksum; ok is false where there is none.
func parseRecord(b []byte, before uint32) (r record, ok bool) {
	if len(b) < recordHead+4 {
		return r, false
	}
	le := binary.LittleEndian
	n := uint64(le.Uint32(b[recordHead-4:]))
	if n > uint64(len(b)-recordHead-4)/keySize {
		return r, false
	}
	end := recordHead + int(n)*keySize
	if r.sum = crc32.Update(before, castagnoli, b[:end]); r.sum != le.Uint32(b[end:]) {
		return r, false
	}
	r.kind, r.size = b[0], end+4
	r.at = Position{chainhash.Hash(b[5:]), int32(le.Uint32(b[1:]))}
	r.keys = make([]Key, n)
	for i := range r.keys {
		k := b[recordHead+i*keySize:]
		r.keys[i] = Key(k[0]) | Key(k[1])<<8 | Key(k[2])<<16 | Key(k[3])<<24 | Key(k[4])<<32
		if i > 0 && r.keys[i] <= r.keys[i-1] {
			return r, false
		}
	}
	return r, r.at.Height >= -1 && r.at.Height <= heighttable.MaxHeight
}

// replay returns what a log says of a store whose tables end at base, and where its good part ends.
func replay(raw []byte, number uint32, base Position) (blocks []block, at Position, end int, sum uint32) {
	if !bytes.HasPrefix(raw, logHeader(number)) {
		return nil, base, 0, 0
	}
	end, sum = logHead, number
	for {
		r, ok := parseRecord(raw[end:], sum)
		best := base
		if n := len(blocks); n > 0 {
			best = blocks[n-1].Position
		}
		switch {
		case !ok:
			return blocks, base, end, sum
		case r.kind == recordCut:
			n := len(blocks)
			for n > 0 && blocks[n-1].Height > r.at.Height {
				n--
			}
			if blocks = blocks[:n]; n == 0 {
				base = r.at
			} else if blocks[n-1].Position != r.at {
				return blocks, base, end, sum
			}
		case r.kind == recordBlock && r.at.Height == best.Height+1:
			blocks = append(blocks, block{r.at, r.keys})
		default:
			return blocks, base, end, sum
		}
		end, sum = end+r.size, r.sum
	}
}

func logHeader(number uint32) []byte {
	return binary.LittleEndian.AppendUint32(append([]byte(nil), logMagic...), number)
}

// openLog reads the log. A record that is not whole, and all behind it, is cut off.
func (s *Store) openLog(number uint32) error {
	path := s.path(number, logName)
	raw, err := vfs.ReadFile(s.o.FS, path, maxLog)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	l := logFile{number: number}
	pending, base, end, sum := replay(raw, number, s.base)
	s.setPending(pending)
	s.base, l.sum = base, sum
	l.end, l.blocks = int64(end), len(s.pending)
	if end == 0 {
		l.broken = true // the next Sync makes another
		s.log = l
		return nil
	}
	if l.file, err = s.o.FS.OpenFile(path, os.O_RDWR, 0); err != nil {
		return err
	}
	if end < len(raw) {
		s.o.Log.Info("log of the script index ends early, the blocks behind are read again", "height", s.best().Height)
		if err := errors.Join(l.file.Truncate(int64(end)), l.file.Sync()); err != nil {
			return errors.Join(err, l.file.Close())
		}
	}
	s.log = l
	return nil
}

// writeLog brings the log to the present state, for good. s.changing is held.
func (s *Store) writeLog() error {
	s.mu.RLock()
	pending, base, tables, closed := s.pending, s.base, s.tables, s.closed
	s.mu.RUnlock()
	l := &s.log
	switch {
	case closed:
		return nil
	case l.broken:
		return s.commit(tables, base, pending)
	}
	var b []byte
	sum := l.sum
	if l.wasCut {
		at := base
		if l.blocks > 0 {
			at = pending[l.blocks-1].Position
		}
		b, sum = appendRecord(b, sum, recordCut, at, nil)
	}
	for _, p := range pending[l.blocks:] {
		b, sum = appendRecord(b, sum, recordBlock, p.Position, p.keys)
	}
	if len(b) == 0 {
		return nil
	}
	_, err := l.file.WriteAt(b, l.end)
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.broken = true // what it has is not known
		return err
	}
	l.end, l.sum, l.blocks, l.wasCut = l.end+int64(len(b)), sum, len(pending), false
	return nil
}
