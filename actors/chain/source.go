package chain

import (
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// A source yields blocks to import.
type source interface {
	name() string
	size() int64    // in bytes
	isEngine() bool // whether a failure to read is one of the engine

	open() error                      // first of those below
	next() (blockfile.Record, error)  // [io.EOF] after the last
	took(at position)                 // notes how far next has come
	offset() int64                    // bytes taken so far
	read(at position) ([]byte, error) // reads a block again
	done() error                      // after the last block
	close()
}

// position is where a block lies in a source.
type position struct {
	file   int
	offset int64
	length int
}

// fileSource is a block file of somebody else: serialized blocks as Core writes them, each
// with magic and length before it. Where a file xor.dat lies beside it, the file is
// obfuscated with that key.
type fileSource struct {
	path    string
	network *dialect.Network
	file    *os.File
	key     blockfile.Key
	scanner *blockfile.Scanner
	at      int64
}

func (s *fileSource) name() string { return s.path }

func (s *fileSource) size() int64 {
	info, err := os.Stat(s.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

func (s *fileSource) open() error {
	file, err := os.Open(s.path)
	if err != nil {
		return err
	}
	s.file = file
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if s.key, err = blockfile.LoadKey(vfs.OS, filepath.Dir(s.path)); err != nil {
		return err
	}
	s.scanner = blockfile.NewScanner(file, info.Size(), s.network.Magic, s.key, s.network.MaxBlockSize)
	return nil
}

func (s *fileSource) next() (blockfile.Record, error) { return s.scanner.Next() }

func (s *fileSource) read(at position) ([]byte, error) {
	raw := make([]byte, at.length)
	start := at.offset + blockfile.HeaderSize
	if _, err := s.file.ReadAt(raw, start); err != nil {
		return nil, err
	}
	s.key.XOR(raw, start)
	return raw, nil
}

func (*fileSource) done() error         { return nil }
func (*fileSource) isEngine() bool      { return false }
func (s *fileSource) offset() int64     { return s.at }
func (s *fileSource) took(end position) { s.at = end.offset + int64(end.length) }
func (s *fileSource) close() {
	if s.file != nil {
		_ = s.file.Close()
	}
}

// storedSource is the engine's own block files.
type storedSource struct {
	engine.Stored
	pull func() (blockfile.Record, error, bool)
	stop func()
	at   int64
}

func (*storedSource) name() string  { return "own block files" }
func (s *storedSource) size() int64 { return s.Size }

func (s *storedSource) open() error {
	s.pull, s.stop = iter.Pull2(s.Blocks)
	return nil
}

func (s *storedSource) next() (blockfile.Record, error) {
	rec, err, ok := s.pull()
	if !ok {
		return rec, io.EOF
	}
	if err != nil {
		return rec, fmt.Errorf("read own block files: %w", err)
	}
	return rec, nil
}

func (s *storedSource) read(at position) ([]byte, error) {
	return s.Read(at.file, at.offset, at.length)
}

func (s *storedSource) done() error       { return s.Done() }
func (*storedSource) isEngine() bool      { return true }
func (s *storedSource) offset() int64     { return s.at }
func (s *storedSource) took(end position) { s.at += int64(end.length) + blockfile.HeaderSize }
func (s *storedSource) close() {
	if s.stop != nil {
		s.stop()
	}
}
