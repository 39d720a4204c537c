package dump

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strconv"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// maxField is how many bytes one side of a line may have. The longest record is a transaction, of 4 MB at most, with
// the notes of users.
const maxField = 64 << 20

// A Reader reads records from a text.
type Reader struct {
	r     *bufio.Reader
	sum   hash.Hash
	ended bool // nothing is left
	key   []byte
	value []byte // may hold a private key
}

// NewReader reads the first lines of a text. tool is what the program is called in errors.
//
// Errors: [Error], those of r.
func NewReader(r io.Reader, tool string) (*Reader, error) {
	d := &Reader{r: bufio.NewReader(r), sum: sha256.New()}
	if err := d.next(); err != nil {
		return nil, err
	}
	if string(d.key) != magic {
		return nil, errorf(`Error: Dumpfile identifier record is incorrect. Got "%s", expected "%s".`, d.key, magic)
	}
	number, err := strconv.ParseUint(string(d.value), 10, 32)
	if err != nil {
		return nil, errorf("Error: Unable to parse version %s as a uint32_t", d.value)
	}
	if number != version {
		return nil, errorf("Error: Dumpfile version is not supported. This version of %s only supports version 1 "+
			"dumpfiles. Got dumpfile with version %s", tool, d.value)
	}
	d.note()
	if err := d.next(); err != nil {
		return nil, err
	}
	if string(d.key) != formatOf {
		return nil, errorf(`Error: Dumpfile format record is incorrect. Got "%s", expected "%s".`, d.key, formatOf)
	}
	if string(d.value) != SQLite {
		return nil, errorf("Error: Dumpfile specifies an unsupported database format (%s). Only sqlite database dumps "+
			"are supported", d.value)
	}
	d.note()
	return d, nil
}

// Each calls put with the records in their order, and then holds them all against the checksum: what put has been given
// counts only where the error is nil. The memory of a record is used again after the call. As in Core, a record without
// a value is passed over, and so is all that follows the checksum.
//
// Errors: [Error], those of the source and of put.
func (d *Reader) Each(put func(walletfile.Record) error) error {
	defer d.wipe()
	for !d.ended {
		if err := d.next(); err != nil {
			return err
		}
		if string(d.key) == sumOf {
			return d.check()
		}
		d.note()
		if len(d.key) == 0 || len(d.value) == 0 {
			continue
		}
		record, err := d.record()
		if err == nil {
			err = put(record)
		}
		if err != nil {
			return err
		}
	}
	return errNoSum
}

const errNoSum = Error("Error: Missing checksum")

// record decodes a line in place.
func (d *Reader) record() (r walletfile.Record, err error) {
	var ok bool
	if r.Key, ok = decoded(d.key); !ok {
		return r, errorf("Error: Got key that was not hex: %s", d.key)
	}
	if r.Value, ok = decoded(d.value); !ok {
		return r, errorf("Error: Got value that was not hex: %s", d.value)
	}
	return r, nil
}

// decoded returns the bytes that a text in hex stands for, in the memory of the text. Another text stays as it is.
func decoded(text []byte) ([]byte, bool) {
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return nil, false
		}
	}
	if len(text)%2 != 0 {
		return nil, false
	}
	n, err := hex.Decode(text, text)
	return text[:n], err == nil
}

// check holds the records against the checksum of the text.
func (d *Reader) check() error {
	given := bytes.Map(withoutSpace, d.value) // Core's parser passes over space
	wanted, err := hex.DecodeString(string(given))
	if err != nil || len(wanted) != sha256.Size {
		return Error("Error: Checksum is not the correct size")
	}
	computed := doubled(d.sum)
	switch {
	case bytes.Equal(wanted, make([]byte, sha256.Size)):
		return errNoSum
	case !bytes.Equal(wanted, computed[:]):
		return errorf("Error: Dumpfile checksum does not match. Computed %x, expected %x", computed, wanted)
	}
	return nil
}

func withoutSpace(r rune) rune {
	switch r {
	case ' ', '\f', '\n', '\r', '\t', '\v':
		return -1
	}
	return r
}

// note adds a line to the checksum.
func (d *Reader) note() {
	for _, part := range [][]byte{d.key, {','}, d.value, {'\n'}} {
		d.sum.Write(part)
	}
}

// next reads a key, up to a comma, and a value, up to the end of the line. Core looks for these alone: a line without a
// comma belongs to the key that follows.
func (d *Reader) next() (err error) {
	if d.key, err = d.field(d.key, ','); err == nil {
		d.value, err = d.field(d.value, '\n')
	}
	return err
}

// field reads up to a delimiter, which is passed over, or to the end of the text.
func (d *Reader) field(into []byte, delimiter byte) ([]byte, error) {
	into = into[:0]
	for !d.ended {
		part, err := d.r.ReadSlice(delimiter)
		if len(into)+len(part) > maxField {
			return into, Error("Error: A record of the dumpfile is too long")
		}
		into = grown(into, len(part))
		into = append(into, part...)
		clear(part)
		switch {
		case err == nil:
			return into[:len(into)-1], nil
		case errors.Is(err, io.EOF):
			d.ended = true
		case !errors.Is(err, bufio.ErrBufferFull):
			return into, err
		}
	}
	return into, nil
}

// grown makes room for more bytes, and overwrites the memory that it gives up.
func grown(b []byte, more int) []byte {
	if cap(b)-len(b) >= more {
		return b
	}
	larger := append(make([]byte, 0, max(2*cap(b), len(b)+more)), b...)
	clear(b[:cap(b)])
	return larger
}

// wipe overwrites what was read last.
func (d *Reader) wipe() {
	clear(d.key[:cap(d.key)])
	clear(d.value[:cap(d.value)])
}
