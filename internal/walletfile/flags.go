package walletfile

import (
	"math/bits"
	"strconv"
)

// Flags is the record of what a wallet can and may do. Bits of the upper half
// must be understood by whoever opens the wallet.
type Flags uint64

// The flags of Core.
const (
	AvoidReuse             Flags = 1 << 0  // do not spend to addresses again that were spent from
	KeyOriginMetadata      Flags = 1 << 1  // of legacy wallets
	LastHardenedXpubCached Flags = 1 << 2  // every descriptor has its last hardened keys in its cache
	DisablePrivateKeys     Flags = 1 << 32 // watch-only
	Blank                  Flags = 1 << 33 // no descriptors are made on their own
	Descriptors            Flags = 1 << 34 // a descriptor wallet; others are legacy
	ExternalSigner         Flags = 1 << 35
)

// KnownFlags are the flags that Core 30 knows.
const KnownFlags = AvoidReuse | KeyOriginMetadata | LastHardenedXpubCached |
	DisablePrivateKeys | Blank | Descriptors | ExternalSigner

// MutableFlags are those that may be changed after the wallet was made.
const MutableFlags = AvoidReuse

var flagNames = map[Flags]string{
	AvoidReuse:             "avoid_reuse",
	KeyOriginMetadata:      "key_origin_metadata",
	LastHardenedXpubCached: "last_hardened_xpub_cached",
	DisablePrivateKeys:     "disable_private_keys",
	Blank:                  "blank",
	Descriptors:            "descriptor_wallet",
	ExternalSigner:         "external_signer",
}

// FlagNamed returns the flag of a name, false where there is none.
func FlagNamed(name string) (flag Flags, found bool) {
	for flag, own := range flagNames {
		if own == name {
			return flag, true
		}
	}
	return 0, false
}

// Has reports whether all the given flags are set.
func (f Flags) Has(flags Flags) bool { return f&flags == flags }

// Tolerable reports whether all flags that must be understood are known.
func (f Flags) Tolerable() bool { return (f&^KnownFlags)>>32 == 0 }

// Names returns the names of the flags that are set, lowest bit first. A flag
// without a name is called unknown_flag_N by its bit.
func (f Flags) Names() []string {
	names := make([]string, 0, bits.OnesCount64(uint64(f)))
	for bit := range 64 {
		flag := Flags(1) << bit
		if !f.Has(flag) {
			continue
		}
		name, known := flagNames[flag]
		if !known {
			name = "unknown_flag_" + strconv.Itoa(bit)
		}
		names = append(names, name)
	}
	return names
}

// Key returns the key of the record.
func (Flags) Key() []byte { return KeyPrefix("flags") }

// Value returns the value of the record.
func (f Flags) Value() []byte { return appendUint64(nil, uint64(f)) }

func parseFlags(_, value *cursor) Entry { return Flags(value.uint64()) }
