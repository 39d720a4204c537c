package walletfile

import (
	"strconv"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
)

// annotationsType is the type of the records of [Annotations].
const annotationsType = "trawlannotations"

// Annotations is the record of what the text of an imported descriptor said of itself. Core leaves records alone whose
// type it does not know.
type Annotations struct {
	ID chainhash.Hash // of the descriptor
	descriptor.Annotations
}

// Key returns the key of the record.
func (a Annotations) Key() []byte { return append(KeyPrefix(annotationsType), a.ID[:]...) }

// An annotation is one of them, by its name in BIP393.
type annotation struct {
	name  string
	value **uint64
}

func annotationsOf(a *descriptor.Annotations) []annotation {
	return []annotation{{"bh", &a.BirthHeight}, {"gl", &a.GapLimit}, {"ml", &a.MaxLabel}}
}

// Value returns the value of the record.
func (a Annotations) Value() []byte {
	var pairs []Pair
	for _, one := range annotationsOf(&a.Annotations) {
		if *one.value != nil {
			pairs = append(pairs, Pair{Name: one.name, Text: strconv.FormatUint(**one.value, 10)})
		}
	}
	return appendPairs(nil, pairs)
}

// parseAnnotations passes over names that it does not know.
func parseAnnotations(key, value *cursor) Entry {
	a := Annotations{ID: key.hash()}
	for _, pair := range value.pairs() {
		for _, one := range annotationsOf(&a.Annotations) {
			if one.name != pair.Name {
				continue
			}
			n, err := strconv.ParseUint(pair.Text, 10, 64)
			if err != nil {
				value.fail(err)
			}
			*one.value = &n
		}
	}
	return a
}
