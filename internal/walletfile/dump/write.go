package dump

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// A Writer writes the records of a wallet file as text.
type Writer struct {
	w    io.Writer
	sum  hash.Hash
	line []byte // may hold a private key
}

// NewWriter begins a text of a file in a format.
//
// Errors: those of w.
func NewWriter(w io.Writer, format string) (*Writer, error) {
	d := &Writer{w: w, sum: sha256.New()}
	d.line = fmt.Appendf(d.line, "%s,%d\n%s,%s\n", magic, version, formatOf, format)
	return d, d.flush()
}

// Put writes a record.
//
// Errors: those of the destination.
func (d *Writer) Put(r walletfile.Record) error {
	d.line = hex.AppendEncode(d.line, r.Key)
	d.line = append(d.line, ',')
	d.line = hex.AppendEncode(d.line, r.Value)
	d.line = append(d.line, '\n')
	return d.flush()
}

// Close writes the last line. The destination stays open.
//
// Errors: those of the destination.
func (d *Writer) Close() error {
	sum := doubled(d.sum)
	_, err := fmt.Fprintf(d.w, "%s,%x\n", sumOf, sum)
	return err
}

// flush writes what the line has, and overwrites it.
func (d *Writer) flush() error {
	d.sum.Write(d.line)
	_, err := d.w.Write(d.line)
	clear(d.line)
	d.line = d.line[:0]
	return err
}
