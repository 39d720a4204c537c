package walletfile

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// locatorVersion stands before every locator; nobody reads it.
const locatorVersion = 70016

// singleSteps is the number of entries of a locator after which the distance
// between two entries doubles.
const singleSteps = 10

// Locator names blocks of a chain, the highest first and the genesis block
// last, so that another chain's last common block can be found.
type Locator []chainhash.Hash

// NewLocator returns the locator of the chain up to tip, where hash gives the
// hash of the block at a height.
func NewLocator(tip int32, hash func(height int32) chainhash.Hash) Locator {
	var l Locator
	step := int64(1)
	for height := int64(tip); ; height = max(height-step, 0) {
		if len(l) > singleSteps {
			step *= 2
		}
		l = append(l, hash(int32(height)))
		if height <= 0 {
			return l
		}
	}
}

func (l Locator) value() []byte {
	value := appendCompact(appendUint32(nil, locatorVersion), len(l))
	for i := range l {
		value = append(value, l[i][:]...)
	}
	return value
}

func parseLocator(value *cursor) Locator {
	value.uint32()
	packed := value.take(value.compact() * chainhash.HashSize)
	var l Locator
	for c := (cursor{rest: packed}); len(c.rest) > 0; {
		l = append(l, c.hash())
	}
	return l
}

// BestBlock is a record that Core writes empty, so that old versions rescan. A
// locator in it has precedence over [BestBlockNoMerkle].
type BestBlock Locator

// Key returns the key of the record.
func (BestBlock) Key() []byte { return KeyPrefix("bestblock") }

// Value returns the value of the record.
func (b BestBlock) Value() []byte { return Locator(b).value() }

func parseBestBlock(_, value *cursor) Entry { return BestBlock(parseLocator(value)) }

// BestBlockNoMerkle is the record of the last block that the wallet has seen.
type BestBlockNoMerkle Locator

// Key returns the key of the record.
func (BestBlockNoMerkle) Key() []byte { return KeyPrefix("bestblock_nomerkle") }

// Value returns the value of the record.
func (b BestBlockNoMerkle) Value() []byte { return Locator(b).value() }

func parseBestBlockNoMerkle(_, value *cursor) Entry { return BestBlockNoMerkle(parseLocator(value)) }
