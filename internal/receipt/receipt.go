// Package receipt writes and reads receipts of scans: the scripts, the blocks that were looked at, and the blocks
// found, in a form that another node can verify. The guide docs/receipts.md specifies each field.
//
// The package is pure. Receipts may come from anyone: their sizes are not trusted, and nothing panics.
package receipt

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// Version is the version of the receipts that this package makes and reads.
const Version = 1

const (
	// MaxBlocks is how many of the found blocks a receipt lists at most: all of them, or none.
	MaxBlocks = 10_000

	// MaxDescriptors is how many descriptors a receipt tells at most: all of them, or none.
	MaxDescriptors = 10_000
)

// A Digest is a SHA-256.
type Digest [sha256.Size]byte

// String returns the hexadecimal digits, first byte first.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// A Receipt is the scope of a scan with its result. It is of all blocks From to To of the chain that
// ends in Block.
type Receipt struct {
	Genesis chainhash.Hash // of the chain

	Descriptors   []Descriptor // without private keys; nil: not told
	Scripts       int          // different output scripts
	ScriptsDigest Digest

	From, To     int32           // heights, both included
	Block        chainhash.Hash  // at To
	FilterHeader *chainhash.Hash // at To (BIP157); nil: not known

	Found       int              // blocks that pay to or spend from one of the scripts
	FoundDigest Digest           // of their hashes by height
	Blocks      []chainhash.Hash // their hashes by height; nil: too many
	Activity    *Activity        // nil: not looked at
}

// A Descriptor is a descriptor with the indices that were derived.
type Descriptor struct {
	Text        string
	Ranged      bool
	First, Last uint32 // where it is ranged; both included
}

// Activity is what the scripts received and spent in the blocks found.
type Activity struct {
	Entries         uint64 // outputs received, and inputs that spend
	Received, Spent uint64 // in the smallest unit
}

// SetFound sets which blocks were found, by height.
func (r *Receipt) SetFound(blocks []chainhash.Hash) {
	r.Found, r.FoundDigest, r.Blocks = len(blocks), DigestBlocks(slices.Values(blocks)), nil
	if len(blocks) <= MaxBlocks {
		r.Blocks = append([]chainhash.Hash{}, blocks...)
	}
}

// SetDescriptors sets which descriptors are told, if these are not too many.
func (r *Receipt) SetDescriptors(list []Descriptor) {
	if len(list) <= MaxDescriptors {
		r.Descriptors = list
	}
}

// SetScripts sets which scripts were looked for, in any order.
func (r *Receipt) SetScripts(scripts iter.Seq[[]byte]) {
	var all []Digest
	for script := range scripts {
		all = append(all, sha256.Sum256(script))
	}
	r.SetScriptDigests(all)
}

// SetScriptDigests sets which scripts were looked for by their SHA-256, in any order. It changes the order, and removes
// what comes twice.
func (r *Receipt) SetScriptDigests(all []Digest) {
	slices.SortFunc(all, func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
	all = slices.Compact(all)
	h := sha256.New()
	for i := range all {
		h.Write(all[i][:])
	}
	r.Scripts, r.ScriptsDigest = len(all), Digest(h.Sum(nil))
}

// DigestBlocks returns the SHA-256 of the canonical JSON of an array of hashes.
func DigestBlocks(blocks iter.Seq[chainhash.Hash]) Digest {
	h := sha256.New()
	separator := "["
	for hash := range blocks {
		h.Write([]byte(separator + `"` + hash.String() + `"`))
		separator = ","
	}
	if separator == "[" {
		h.Write([]byte(separator))
	}
	h.Write([]byte("]"))
	return Digest(h.Sum(nil))
}

// Digest returns the SHA-256 of the canonical JSON of a receipt (RFC 8785), without the member that has the digest.
func (r *Receipt) Digest() Digest {
	raw, err := r.tree().AppendCanonical(nil)
	if err != nil { // of a text that is no Unicode, which [Parse] refuses and no descriptor has
		return Digest{}
	}
	return sha256.Sum256(raw)
}

// AppendJSON implements [jsontree.Appender]: it appends the canonical JSON, with the digest.
func (r *Receipt) AppendJSON(dst []byte) []byte {
	v := r.tree()
	v.Add(keyDigest, jsontree.NewString(r.Digest().String()))
	raw, err := v.AppendCanonical(dst)
	if err != nil { // as in Digest
		return append(dst, "null"...)
	}
	return raw
}

// tree returns the members of a receipt.
func (r *Receipt) tree() *jsontree.Value {
	v := jsontree.NewObject()
	text := func(key, text string) { v.Add(key, jsontree.NewString(text)) }
	number := func(key string, n int64) { v.Add(key, jsontree.NewInt(n)) }
	number(keyVersion, Version)
	text(keyGenesis, r.Genesis.String())
	if r.Descriptors != nil {
		list := jsontree.NewArray()
		for i := range r.Descriptors {
			list.Append(r.Descriptors[i].ScanObject())
		}
		v.Add(keyDescriptors, list)
	}
	number(keyScripts, int64(r.Scripts))
	text(keyScriptsDigest, r.ScriptsDigest.String())
	number(keyFrom, int64(r.From))
	number(keyTo, int64(r.To))
	text(keyBlock, r.Block.String())
	if r.FilterHeader != nil {
		text(keyFilterHeader, r.FilterHeader.String())
	}
	number(keyScanned, int64(r.To)-int64(r.From)+1)
	number(keyFound, int64(r.Found))
	text(keyFoundDigest, r.FoundDigest.String())
	if r.Blocks != nil {
		list := jsontree.NewArray()
		for i := range r.Blocks {
			list.Append(jsontree.NewString(r.Blocks[i].String()))
		}
		v.Add(keyBlocks, list)
	}
	if a := r.Activity; a != nil {
		of := jsontree.NewObject()
		of.Add(keyEntries, jsontree.NewInt(int64(a.Entries)))
		of.Add(keyReceived, jsontree.NewString(strconv.FormatUint(a.Received, 10)))
		of.Add(keySpent, jsontree.NewString(strconv.FormatUint(a.Spent, 10)))
		v.Add(keyActivity, of)
	}
	return v
}

// Parts returns a descriptor with its range in parts of at most so many indices.
func (d *Descriptor) Parts(most uint32) (parts []Descriptor) {
	rest := *d
	for rest.Ranged && rest.Last-rest.First >= most {
		part := rest
		part.Last = part.First + most - 1
		parts = append(parts, part)
		rest.First = part.Last + 1
	}
	return append(parts, rest)
}

// Indices returns how many indices the descriptors have.
func (r *Receipt) Indices() (n uint64) {
	for i := range r.Descriptors {
		n += uint64(r.Descriptors[i].Last-r.Descriptors[i].First) + 1
	}
	return n
}

// ScanObject returns a descriptor as a scan object.
func (d *Descriptor) ScanObject() *jsontree.Value {
	v := jsontree.NewObject()
	v.Add(keyDesc, jsontree.NewString(d.Text))
	if d.Ranged {
		v.Add(keyRange, jsontree.NewArray(jsontree.NewInt(int64(d.First)), jsontree.NewInt(int64(d.Last))))
	}
	return v
}
