package segment

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
)

// verifyBuffer is how many bytes Verify reads from the disk at a time.
const verifyBuffer = 256 << 10

// Verify reads a segment from the disk and checks every byte. It checks the
// header, the filters against their CRC-32 and, if deep, their filter hash, all
// else against zero, and the size of the file. While the last segment is
// checked nothing is appended, deep for about 0.1 s per 64 MiB.
//
// Errors: [*DamagedError], [ErrNotFound] for no such segment, [ErrClosed],
// that of ctx.
func (s *Store) Verify(ctx context.Context, segment int, deep bool) error {
	s.write.Lock()
	c, err := s.checkup(segment)
	if err == nil && c.grows {
		defer s.write.Unlock()
	} else {
		s.write.Unlock()
	}
	if err != nil {
		return err
	}
	if deep {
		c.hashOf = s.filterHash
	}
	return c.run(ctx)
}

// checkup is the check of one segment file.
type checkup struct {
	fs     vfs.FS
	path   string
	info   segmentInfo
	slots  []slot
	grows  bool
	hashOf func(number uint32, s *slot) (chainhash.Hash, error) // nil: not deep
}

// checkup returns the check of a segment as it is while write is held.
func (s *Store) checkup(segment int) (*checkup, error) {
	if s.isClosed() {
		return nil, ErrClosed
	}
	i, ok := s.catalog.segmentAt(segment)
	if !ok {
		return nil, fmt.Errorf("filter segment %d: %w", segment, ErrNotFound)
	}
	info := s.catalog.segments[i]
	return &checkup{
		fs:    s.fs,
		path:  segmentPath(s.dir, info.number),
		info:  info,
		slots: s.catalog.slotsOf(i),
		grows: s.tail != nil && s.tail.number == info.number,
	}, nil
}

// filterHash returns the recorded hash of a filter.
func (s *Store) filterHash(number uint32, sl *slot) (chainhash.Hash, error) {
	r, err := s.keys.recordOf(position{number, sl.offset}, &sl.block)
	return r.filterHash, err
}

func (c *checkup) run(ctx context.Context) error {
	f, err := openFile(c.fs, c.path)
	if errors.Is(err, os.ErrNotExist) {
		return c.damaged(errMissing)
	}
	if err != nil {
		return c.damaged(err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return c.damaged(err)
	}
	if stat.Size() != c.info.size() {
		return c.damaged(errSize)
	}
	r := bufio.NewReaderSize(f, verifyBuffer)
	if err := checkHeader(r, c.info.number); err != nil {
		return c.damaged(err)
	}
	end, err := c.checkFilters(ctx, r)
	if err != nil {
		return err
	}
	return c.checkZero(r, stat.Size()-end)
}

// checkFilters reads all filters and what may lie between them, and returns
// where they end.
func (c *checkup) checkFilters(ctx context.Context, r io.Reader) (end int64, err error) {
	end = headerSize
	var buf []byte
	for i := range c.slots {
		s := &c.slots[i]
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := c.checkZero(r, int64(s.offset)-end); err != nil {
			return 0, err
		}
		buf = grow(buf, s.length)
		if _, err := io.ReadFull(r, buf); err != nil {
			return 0, c.damaged(short(err))
		}
		if err := c.checkFilter(s, buf); err != nil {
			return 0, err
		}
		end = s.end()
	}
	return end, nil
}

func (c *checkup) checkFilter(s *slot, filter []byte) error {
	reason := errChecksum
	damaged := len(filter) != int(s.length) || crc32.ChecksumIEEE(filter) != s.crc
	if !damaged && c.hashOf != nil {
		hash, err := c.hashOf(c.info.number, s)
		if err != nil {
			return err
		}
		reason, damaged = errHash, chainhash.DoubleHashH(filter) != hash
	}
	if damaged {
		return &DamagedError{Segment: int(c.info.number), Block: s.block, Reason: reason}
	}
	return nil
}

// checkZero reads n bytes that no filter has. There are none between filters
// but where records were lost.
func (c *checkup) checkZero(r io.Reader, n int64) error {
	z := zeroCheck{left: n}
	if _, err := io.Copy(&z, io.LimitReader(r, n)); err != nil {
		return c.damaged(err)
	}
	if z.left != 0 {
		return c.damaged(errSize)
	}
	return nil
}

func (c *checkup) damaged(reason error) error {
	return &DamagedError{Segment: int(c.info.number), Reason: reason}
}

// zeroCheck is a writer that takes zeros only.
type zeroCheck struct{ left int64 }

// Write implements io.Writer.
func (z *zeroCheck) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != 0 {
			return 0, errNotZero
		}
	}
	z.left -= int64(len(b))
	return len(b), nil
}

// grow returns a slice of n bytes, in the memory of buf if that suffices.
func grow(buf []byte, n uint32) []byte {
	if uint64(cap(buf)) < uint64(n) {
		return make([]byte, n)
	}
	return buf[:n]
}
