package receipt

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// ErrMalformed reports a value that is no receipt.
var ErrMalformed = errors.New("not a receipt")

// The members of a receipt.
const (
	keyVersion       = "version"
	keyGenesis       = "genesis"
	keyDescriptors   = "descriptors"
	keyDesc          = "desc"
	keyRange         = "range"
	keyScripts       = "scripts"
	keyScriptsDigest = "scripts_digest"
	keyFrom          = "from_height"
	keyTo            = "to_height"
	keyBlock         = "blockhash"
	keyFilterHeader  = "filter_header"
	keyScanned       = "blocks_scanned"
	keyFound         = "blocks_found"
	keyFoundDigest   = "blocks_found_digest"
	keyBlocks        = "relevant_blocks"
	keyActivity      = "activity"
	keyEntries       = "entries"
	keyReceived      = "received"
	keySpent         = "spent"
	keyDigest        = "digest"
)

var (
	keys = []string{
		keyVersion, keyGenesis, keyDescriptors, keyScripts, keyScriptsDigest, keyFrom, keyTo, keyBlock,
		keyFilterHeader, keyScanned, keyFound, keyFoundDigest, keyBlocks, keyActivity, keyDigest,
	}
	activityKeys   = []string{keyEntries, keyReceived, keySpent}
	descriptorKeys = []string{keyDesc, keyRange}
)

// A reader reads members, and remembers the first that is not as it has to be.
type reader struct{ err error }

func (d *reader) fail(key, what string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s %s", ErrMalformed, key, what)
	}
}

// Parse reads a receipt, and the digest that it states. Each member has to be known and written as this package
// writes it. The error wraps [ErrMalformed].
func Parse(v *jsontree.Value) (r *Receipt, stated Digest, err error) {
	d := &reader{}
	if v.Kind() != jsontree.Object {
		return nil, stated, fmt.Errorf("%w: it is no object", ErrMalformed)
	}
	d.known(v, "member", keys)
	if n := d.number(v, keyVersion, 1<<31-1); n != Version {
		d.fail(keyVersion, "is not 1")
	}
	r = &Receipt{
		Genesis: d.hash(v.Get(keyGenesis), keyGenesis), Scripts: int(d.number(v, keyScripts, 1<<31-1)),
		ScriptsDigest: d.digest(v, keyScriptsDigest), From: int32(d.number(v, keyFrom, 1<<31-2)),
		To: int32(d.number(v, keyTo, 1<<31-2)), Block: d.hash(v.Get(keyBlock), keyBlock),
		Found: int(d.number(v, keyFound, 1<<31-1)), FoundDigest: d.digest(v, keyFoundDigest),
	}
	if r.From > r.To || d.number(v, keyScanned, 1<<31-1) != uint64(r.To-r.From)+1 {
		d.fail(keyScanned, "is not the number of heights")
	}
	if v.Get(keyFilterHeader) != nil {
		header := d.hash(v.Get(keyFilterHeader), keyFilterHeader)
		r.FilterHeader = &header
	}
	d.descriptors(v.Get(keyDescriptors), r)
	d.blocks(v.Get(keyBlocks), r)
	d.activity(v.Get(keyActivity), r)
	stated = d.digest(v, keyDigest)
	if d.err != nil {
		return nil, stated, d.err
	}
	return r, stated, nil
}

// known refuses members that are not known, or come twice.
func (d *reader) known(v *jsontree.Value, what string, keys []string) {
	seen := map[string]bool{}
	for key := range v.Members() {
		if !slices.Contains(keys, key) {
			d.fail(what, fmt.Sprintf("%q is not known", key))
		}
		if seen[key] {
			d.fail(what, fmt.Sprintf("%q comes twice", key))
		}
		seen[key] = true
	}
}

// number reads an integer from 0 to most.
func (d *reader) number(v *jsontree.Value, key string, most uint64) uint64 {
	n, err := v.Get(key).AsUint64()
	if err != nil || n > most {
		d.fail(key, "is no number of it")
		return 0
	}
	return n
}

func (d *reader) digest(v *jsontree.Value, key string) (digest Digest) {
	text, wrong := v.Get(key).AsString()
	raw, err := hex.DecodeString(text)
	if wrong != nil || err != nil || len(raw) != len(digest) || hex.EncodeToString(raw) != text {
		d.fail(key, "is no SHA-256 in lower case")
		return digest
	}
	return Digest(raw)
}

func (d *reader) hash(v *jsontree.Value, key string) chainhash.Hash {
	hash, err := chainhash.NewHashFromStr(v.Text())
	if v.Kind() != jsontree.String || err != nil || hash.String() != v.Text() {
		d.fail(key, "is no hash in lower case")
		return chainhash.Hash{}
	}
	return *hash
}

// list reports whether there is an array, of at most so many elements.
func (d *reader) list(v *jsontree.Value, key string, most int) bool {
	if v == nil {
		return false
	}
	if v.Kind() != jsontree.Array || v.Len() > most {
		d.fail(key, fmt.Sprintf("is no array of up to %d", most))
		return false
	}
	return true
}

func (d *reader) descriptors(v *jsontree.Value, r *Receipt) {
	if !d.list(v, keyDescriptors, MaxDescriptors) {
		return
	}
	r.Descriptors = make([]Descriptor, v.Len())
	for i, one := range v.Elements() {
		d.known(one, keyDescriptors, descriptorKeys)
		text, err := one.Get(keyDesc).AsString()
		if err != nil {
			d.fail(keyDescriptors, "has one without a text")
		}
		if _, err := one.Get(keyDesc).AppendCanonical(nil); err != nil {
			d.fail(keyDescriptors, "has a text that is not Unicode")
		}
		r.Descriptors[i].Text = text
		if bounds := one.Get(keyRange); bounds != nil {
			first, err1 := bounds.At(0).AsUint32()
			last, err2 := bounds.At(1).AsUint32()
			if err1 != nil || err2 != nil || bounds.Len() != 2 || first > last || last > 1<<31-1 {
				d.fail(keyRange, "is not the first and the last index")
			}
			r.Descriptors[i].Ranged, r.Descriptors[i].First, r.Descriptors[i].Last = true, first, last
		}
	}
}

func (d *reader) blocks(v *jsontree.Value, r *Receipt) {
	if !d.list(v, keyBlocks, MaxBlocks) {
		return
	}
	r.Blocks = make([]chainhash.Hash, v.Len())
	for i, one := range v.Elements() {
		r.Blocks[i] = d.hash(one, keyBlocks)
	}
	if len(r.Blocks) != r.Found || DigestBlocks(slices.Values(r.Blocks)) != r.FoundDigest {
		d.fail(keyBlocks, "are not those of the digest")
	}
}

func (d *reader) activity(v *jsontree.Value, r *Receipt) {
	if v == nil {
		return
	}
	d.known(v, keyActivity, activityKeys)
	r.Activity = &Activity{
		Entries: d.number(v, keyEntries, 1<<53), Received: d.amount(v, keyReceived), Spent: d.amount(v, keySpent),
	}
}

// amount reads a number that is written as text: sums of amounts may be beyond the numbers of JSON that are exact.
func (d *reader) amount(v *jsontree.Value, key string) uint64 {
	text, err := v.Get(key).AsString()
	n, wrong := strconv.ParseUint(text, 10, 64)
	if err != nil || wrong != nil || strconv.FormatUint(n, 10) != text {
		d.fail(key, "is no text of a number")
	}
	return n
}
