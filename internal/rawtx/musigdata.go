package rawtx

import (
	"bytes"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// Aggregates are the participants of keys that several sign for, in the order in which they are aggregated, by the
// keys. Keys are compressed.
type Aggregates map[[33]byte][][]byte

// Add adds a key of a descriptor.
func (a Aggregates) Add(key *descriptor.Aggregate) { a[[33]byte(key.PublicKey)] = key.Participants }

// musigPlace is a key that is signed for, as the signature is by it, and the leaf that names it; zero: it is an output
// key.
type musigPlace struct {
	key  [33]byte
	leaf [32]byte
}

// musigData is what an input says of keys that several sign for.
type musigData struct {
	participants     Aggregates
	nonces, partials map[musigPlace]map[[33]byte][]byte // by participant
}

func newMusigData() musigData {
	return musigData{Aggregates{}, map[musigPlace]map[[33]byte][]byte{}, map[musigPlace]map[[33]byte][]byte{}}
}

const keyBytes = btcec.PubKeyBytesLenCompressed

// read takes the fields of an input.
func (d *musigData) read(in psbt.Map) {
	d.readParticipants(in, psbt.MusigParticipants)
	for kind, to := range map[uint64]map[musigPlace]map[[33]byte][]byte{
		psbt.MusigPubNonce: d.nonces, psbt.MusigPartialSig: d.partials,
	} {
		for _, e := range in.Of(kind) {
			at := musigPlace{key: [33]byte(e.Data[keyBytes:])}
			copy(at.leaf[:], e.Data[2*keyBytes:])
			note(to, at, [33]byte(e.Data), e.Value)
		}
	}
}

// know adds keys that are known. Only packets say how far several have signed.
func (d *musigData) know(keys Aggregates) {
	if d.participants != nil {
		maps.Copy(d.participants, keys)
	}
}

func (d *musigData) readParticipants(m psbt.Map, kind uint64) {
	for _, e := range m.Of(kind) {
		d.participants[[33]byte(e.Data)] = slices.Collect(slices.Chunk(e.Value, keyBytes))
	}
}

func note(to map[musigPlace]map[[33]byte][]byte, at musigPlace, participant [33]byte, value []byte) {
	if to[at] == nil {
		to[at] = map[[33]byte][]byte{}
	}
	to[at][participant] = value
}

// fill puts the fields into an input.
func (d *musigData) fill(add adder) {
	d.fillParticipants(add, psbt.MusigParticipants)
	for kind, from := range map[uint64]map[musigPlace]map[[33]byte][]byte{
		psbt.MusigPubNonce: d.nonces, psbt.MusigPartialSig: d.partials,
	} {
		for at, values := range from {
			for participant, value := range values {
				data := slices.Concat(participant[:], at.key[:])
				if at.leaf != ([32]byte{}) {
					data = append(data, at.leaf[:]...)
				}
				add(kind, data, value)
			}
		}
	}
}

func (d *musigData) fillParticipants(add adder, kind uint64) {
	for key, participants := range d.participants {
		add(kind, bytes.Clone(key[:]), slices.Concat(participants...))
	}
}
