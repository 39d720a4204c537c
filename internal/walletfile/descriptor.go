package walletfile

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
)

// DescriptorRecord is the record of a descriptor.
type DescriptorRecord struct {
	ID           chainhash.Hash // see [DescriptorID]
	Text         string         // public form with checksum
	CreationTime uint64         // Unix time in seconds
	NextIndex    int32          // of the next address
	RangeStart   int32
	RangeEnd     int32 // first index after the range

	// FillPending is qbit's sign that the range is still to be filled; nil
	// when the record does not have it.
	FillPending *bool
}

// Key returns the key of the record.
func (d DescriptorRecord) Key() []byte {
	return append(KeyPrefix("walletdescriptor"), d.ID[:]...)
}

// Value returns the value of the record.
func (d DescriptorRecord) Value() []byte {
	value := appendBytes(nil, d.Text)
	value = appendUint64(value, d.CreationTime)
	for _, n := range []int32{d.NextIndex, d.RangeStart, d.RangeEnd} {
		value = appendUint32(value, uint32(n))
	}
	if d.FillPending != nil {
		value = appendBool(value, *d.FillPending)
	}
	return value
}

func parseDescriptor(key, value *cursor) Entry {
	d := DescriptorRecord{
		ID:           key.hash(),
		Text:         value.text(),
		CreationTime: value.uint64(),
		NextIndex:    value.int32(),
		RangeStart:   value.int32(),
		RangeEnd:     value.int32(),
	}
	if value.err == nil && len(value.rest) > 0 {
		pending := value.bool()
		d.FillPending = &pending
	}
	return d
}

// withApostrophes returns a key expression with its hardened steps marked with '.
func withApostrophes(key string) []byte {
	text := []byte(key)
	for i, c := range text {
		if c == 'h' && endsInStep(key[:i]) {
			text[i] = '\''
		}
	}
	return text
}

// endsInStep tells whether text ends in a slash and a number or an asterisk.
func endsInStep(text string) bool {
	before := strings.TrimRight(text, "0123456789")
	if len(before) == len(text) {
		before = strings.TrimSuffix(text, "*")
	}
	return len(before) < len(text) && strings.HasSuffix(before, "/")
}

// DescriptorID returns the id of a descriptor: the SHA256 of its canonical
// public text with the hardened steps marked with ' instead of h, and with the
// checksum of that text. Keys inside miniscript keep their own marker, as in
// Core up to version 30; with a musig() among them, which only later versions
// of Core read, they do not, as in these. So records may have another id: see
// [Load].
func DescriptorID(d *descriptor.Descriptor) chainhash.Hash {
	body, _, _ := strings.Cut(d.String(), "#")
	text, done := make([]byte, 0, len(body)), 0
	keys := keyExpressions(body)
	later := slices.ContainsFunc(keys, func(k keyExpression) bool {
		return k.miniscript && strings.HasPrefix(body[k.start:], "musig(")
	})
	for _, key := range keys {
		if key.miniscript && !later || key.start < done { // a musig is done with its participants
			continue
		}
		text = append(text, body[done:key.start]...)
		text = append(text, withApostrophes(body[key.start:key.end])...)
		done = key.end
	}
	text = append(text, body[done:]...)
	return sha256.Sum256([]byte(descriptor.AddChecksum(string(text))))
}
