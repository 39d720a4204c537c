package coinfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// ErrOpen reports that a file cannot be opened.
var ErrOpen = errors.New("coinfile: cannot open file")

// A HeadError says why the beginning of a file is not taken, in Core's words.
type HeadError struct{ Text string }

// Error implements error.
func (e *HeadError) Error() string { return e.Text }

// A ContentError says why the outputs of a file are not taken, in Core's words.
type ContentError struct{ Text string }

// Error implements error.
func (e *ContentError) Error() string { return e.Text }

// Limits are what the outputs of a file are held against.
type Limits struct {
	Height   int32 // of the block that the set is of
	MaxMoney int64 // satoshis
}

// A Reader reads one file. A length in the file is trusted only as far as bytes follow: no
// length makes the reader take more memory than a script may have.
type Reader struct {
	Magic [4]byte        // of the network
	Block chainhash.Hash // that the set is of
	Coins uint64         // how many outputs there are

	file vfs.File
	in   *bufio.Reader

	tx     chainhash.Hash
	ofTx   uint64 // outputs of tx that are still to come
	done   uint64 // outputs that were read
	script []byte
}

// Open opens a file and reads its beginning. The function known returns the name of the network
// with a magic, "" for an unknown magic. The file must be of the network with the magic own. A pipe
// or a device, which may keep the reader waiting for ever, is not opened.
//
// Errors: ErrOpen, [*HeadError].
func Open(disk vfs.FS, path string, own [4]byte, known func(magic [4]byte) string) (*Reader, error) {
	if info, err := disk.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, fmt.Errorf("%w: %s is no file", ErrOpen, path)
	}
	file, err := disk.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOpen, err)
	}
	r := &Reader{file: file, in: bufio.NewReaderSize(file, bufferSize)}
	if err := r.readHead(own, known); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// headError is a HeadError as Core's stream reports it.
func headError(format string, args ...any) error {
	return &HeadError{fmt.Sprintf(format, args...) + ": iostream error"}
}

func (r *Reader) readHead(own [4]byte, known func(magic [4]byte) string) error {
	var head [len(fileMagic) + 2 + 4 + chainhash.HashSize + 8]byte
	n, err := io.ReadFull(r.in, head[:])
	le, rest := binary.LittleEndian, head[:]
	// take returns the next bytes, nil where the file has ended.
	take := func(size int) []byte {
		if n < size {
			return nil
		}
		part := rest[:size]
		n, rest = n-size, rest[size:]
		return part
	}
	cut := func() error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return headError("AutoFile::read: end of file")
		}
		return headError("AutoFile::read: fread failed")
	}
	magic := take(len(fileMagic))
	switch {
	case magic == nil:
		return cut()
	case !bytes.Equal(magic, fileMagic[:]):
		return headError("Invalid UTXO set snapshot magic bytes. Please check if this is indeed a snapshot file or " +
			"if you are using an outdated snapshot format.")
	}
	switch v := take(2); {
	case v == nil:
		return cut()
	case le.Uint16(v) != version:
		return headError("Version of snapshot %d does not match any of the supported versions.", le.Uint16(v))
	}
	network := take(len(r.Magic))
	if network == nil {
		return cut()
	}
	if r.Magic = [4]byte(network); r.Magic != own {
		return otherNetwork(known(r.Magic), known(own))
	}
	last := take(chainhash.HashSize + 8)
	if last == nil {
		return cut()
	}
	r.Block, r.Coins = chainhash.Hash(last), le.Uint64(last[chainhash.HashSize:])
	return nil
}

func otherNetwork(of, own string) error {
	if of == "" {
		return headError("This snapshot has been created for an unrecognized network. This could be a custom signet, " +
			"a new testnet or possibly caused by data corruption.")
	}
	return headError("The network of the snapshot (%s) does not match the network of this node (%s).", of, own)
}

// errCut reports bytes that are missing or can be none of the format.
var errCut = errors.New("coinfile: cut off")

// Next reads the next output, and returns io.EOF after the last. The script of c is valid
// until the next call.
//
// Errors: [*ContentError].
func (r *Reader) Next(out *wire.OutPoint, c *blockfile.Coin, limits Limits) error {
	err := r.next(out, c)
	switch {
	case errors.Is(err, errCut):
		return content("Bad snapshot format or truncated snapshot after deserializing %d coins", r.done)
	case err != nil:
		return err
	case c.Height > limits.Height:
		return content("Bad snapshot data after deserializing %d coins", r.done)
	case c.Amount < 0 || c.Amount > limits.MaxMoney:
		return content("Bad snapshot data after deserializing %d coins - bad tx out value", r.done)
	}
	r.done++
	r.ofTx--
	return nil
}

func content(format string, args ...any) error { return &ContentError{fmt.Sprintf(format, args...)} }

func (r *Reader) next(out *wire.OutPoint, c *blockfile.Coin) error {
	if r.done == r.Coins {
		return r.end()
	}
	for r.ofTx == 0 {
		if _, err := io.ReadFull(r.in, r.tx[:]); err != nil {
			return errCut
		}
		n, err := r.compactSize()
		if err != nil {
			return err
		}
		if n > r.Coins-r.done {
			return content("Mismatch in coins count in snapshot metadata and actual snapshot data")
		}
		r.ofTx = n
	}
	index, err := r.compactSize()
	if err != nil {
		return err
	}
	out.Hash, out.Index = r.tx, uint32(index)
	return r.coin(c)
}

// end is what comes after the last output: nothing.
func (r *Reader) end() error {
	if _, err := r.in.ReadByte(); err == nil {
		return content("Bad snapshot - coins left over after deserializing %d coins", r.Coins)
	}
	return io.EOF
}
