// Package walletfile reads and writes the records of Bitcoin Core's wallets, and
// of the legacy wallets before them. Records are the keys and values of a
// wallet.dat; the format of the file is not known here.
//
// [Parse] turns a key and its value into a typed [Entry], and every entry gives
// back the bytes that Core would write. [Load] puts all records of a wallet
// together, with the checks, severities and texts of Core's loader, and
// [LoadLegacy] those of a legacy wallet. The records that qbit adds are known too.
// Private keys and passphrases are held in a
// [Secret], which never prints what it holds.
//
// The package is pure: no file, no clock, no randomness. Records may come from
// anyone: memory is bounded by the size of the record, and nothing panics.
//
// Integers are little endian. Lengths and counts are CompactSizes; a key is the
// name of the type with its length, followed by the fields of the key.
//
// Source: Bitcoin Core v30, wallet/walletdb.cpp, wallet/crypter.cpp,
// wallet/transaction.h.
package walletfile

import (
	"errors"
	"fmt"
)

var (
	// ErrRecord reports a key or a value that is not of its type's form.
	ErrRecord = errors.New("malformed wallet record")

	// ErrUnknownType reports a record of a type that wallets do not have, or had so
	// long ago that nobody reads it any more. Core passes over such records.
	ErrUnknownType = errors.New("unknown wallet record")
)

// A Record is one row of a wallet file.
type Record struct {
	Key   []byte
	Value []byte
}

// Type returns the name of the record's type. It is false for a key that does
// not begin with a name.
func (r Record) Type() (string, bool) {
	c := cursor{rest: r.Key}
	name := c.text()
	return name, c.err == nil
}

// An Entry is a typed record.
type Entry interface {
	// Key returns the key of the record in its file.
	Key() []byte

	// Value returns the value of the record, as Core would write it.
	Value() []byte
}

// RecordOf returns the record of an entry.
func RecordOf(e Entry) Record { return Record{Key: e.Key(), Value: e.Value()} }

// parsers holds the reader of each type: the key without its type, the value.
var parsers = map[string]func(key, value *cursor) Entry{
	"version":                   parseVersion,
	"minversion":                parseMinVersion,
	"flags":                     parseFlags,
	"walletdescriptor":          parseDescriptor,
	"walletdescriptorkey":       parseDescriptorKey,
	"walletdescriptorckey":      parseDescriptorCryptedKey,
	"walletdescriptorcache":     parseCache,
	"walletdescriptorlhcache":   parseLastHardened,
	"activeexternalspk":         parseActiveExternal,
	"activeinternalspk":         parseActiveInternal,
	"name":                      parseName,
	"purpose":                   parsePurpose,
	"destdata":                  parseDestData,
	"tx":                        parseTx,
	"lockedutxo":                parseLockedOutput,
	"orderposnext":              parseOrderPosNext,
	txNotesType:                 parseTxNotes,
	annotationsType:             parseAnnotations,
	"bestblock":                 parseBestBlock,
	"bestblock_nomerkle":        parseBestBlockNoMerkle,
	"mkey":                      parseMasterKey,
	"walletdescriptorpqckey":    parsePQCKey,
	"walletdescriptorpqc_ckey":  parsePQCCryptedKey,
	"walletdescriptorp2mrcache": parseP2MRCache,
	"pubkeydbentry":             parsePubKeyEntry,
	"pubkeydbcursor":            parsePubKeyCursor,
	"key":                       parseLegacyKey,
	"ckey":                      parseLegacyCryptedKey,
	"keymeta":                   parseKeyMeta,
	"hdchain":                   parseHDChain,
	"pool":                      parsePoolKey,
	"defaultkey":                parseDefaultKey,
	"cscript":                   parseLegacyScript,
	"watchs":                    parseWatchedScript,
	"watchmeta":                 parseWatchedMeta,
}

// Parse reads a record. As in Core, bytes after the last field of a key or a
// value are passed over. The entry shares no memory with the record.
//
// Errors: ErrUnknownType, ErrRecord.
func Parse(r Record) (Entry, error) {
	key := cursor{rest: r.Key}
	name := key.text()
	parse, known := parsers[name]
	if key.err != nil || !known {
		return nil, ErrUnknownType
	}
	value := cursor{rest: r.Value}
	entry := parse(&key, &value)
	switch {
	case key.err != nil:
		return nil, fmt.Errorf("%w: key of type %s: %w", ErrRecord, name, key.err)
	case value.err != nil:
		return nil, fmt.Errorf("%w: value of type %s: %w", ErrRecord, name, value.err)
	}
	return entry, nil
}
