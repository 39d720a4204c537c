package walletfile_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

var loadOptions = walletfile.LoadOptions{Network: descriptor.NetworkOf(&chaincfg.RegressionNetParams)}

// wholeWallet is the wallet of coreRecords that is complete.
const wholeWallet = "default"

// coreRecords returns records that Bitcoin Core 30.2 wrote, by the name of the
// wallet. A record that two wallets have alike is in one alone, and derived keys
// are left out of the wallet imported.
func coreRecords(tb testing.TB) map[string][]walletfile.Record {
	tb.Helper()
	file, err := os.Open("testdata/records.txt.gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	text, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	wallets := make(map[string][]walletfile.Record)
	for lines := bufio.NewScanner(text); lines.Scan(); {
		wallet, fields, _ := strings.Cut(lines.Text(), " ")
		key, value, _ := strings.Cut(fields, " ")
		wallets[wallet] = append(wallets[wallet], walletfile.Record{Key: unhex(tb, key), Value: unhex(tb, value)})
	}
	return wallets
}

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

// record makes a record of a type's name, the hex of its other key fields and
// the hex of its value.
func record(tb testing.TB, name, key, value string) walletfile.Record {
	tb.Helper()
	return walletfile.Record{Key: append(walletfile.KeyPrefix(name), unhex(tb, key)...), Value: unhex(tb, value)}
}

// TestCoreRecords reads every record and writes it again.
func TestCoreRecords(t *testing.T) {
	for wallet, records := range coreRecords(t) {
		for _, r := range records {
			checkRoundTrip(t, wallet, r)
		}
	}
}

func checkRoundTrip(t *testing.T, name string, r walletfile.Record) walletfile.Entry {
	t.Helper()
	entry, err := walletfile.Parse(r)
	if err != nil {
		t.Errorf("%s: %x: %v", name, r.Key, err)
		return nil
	}
	if !bytes.Equal(entry.Key(), r.Key) || !bytes.Equal(entry.Value(), r.Value) {
		t.Errorf("%s: %T\ngot  %x: %x\nwant %x: %x", name, entry, entry.Key(), entry.Value(), r.Key, r.Value)
	}
	return entry
}

// handMade are records that Core's wallets at hand do not have.
func handMade(tb testing.TB) map[string]walletfile.Record {
	tb.Helper()
	id, pub := strings.Repeat("11", 32), strings.Repeat("22", 32)
	secret := strings.Repeat("33", 32) + pub
	sum := func(counter string) string {
		h := chainhash.DoubleHashB(unhex(tb, pub+secret+counter))
		return hex.EncodeToString(h)
	}
	point := "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" // of the private key 1
	pointY := "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8"
	long := "308201130201010420" + strings.Repeat("00",
		31) + "01" + "a081a53081a2020101302c06072a8648ce3d0101022100fffffffffffffffffffffffffffffffffffffffffffffffffffff" +
		"ffefffffc2f3006040100040107044104" +
		point + pointY + "022100fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141020101a14403420004" + point + pointY
	longSum := hex.EncodeToString(chainhash.DoubleHashB(unhex(tb, "04"+point+pointY+long)))
	return map[string]walletfile.Record{
		"minimum version":        record(tb, "minversion", "", "6c970200"),
		"locked output":          record(tb, "lockedutxo", id+"05000000", "31"),
		"payment request":        record(tb, "destdata", "0161 03727231", "0178"),
		"uncompressed key":       record(tb, "walletdescriptorkey", id+"4104"+point+pointY, "fd1701"+long+longSum),
		"post-quantum key":       record(tb, "walletdescriptorpqckey", id+"20"+pub, "40"+secret+sum("07000000")+"07000000"),
		"post-quantum key, old":  record(tb, "walletdescriptorpqckey", id+"20"+pub, "40"+secret+sum("")),
		"post-quantum ckey":      record(tb, "walletdescriptorpqc_ckey", id+"20"+pub, "50"+strings.Repeat("44", 80)+"01000000"+id),
		"post-quantum cache":     record(tb, "walletdescriptorp2mrcache", id+"00000000 09000000", "20"+pub),
		"index of own keys":      record(tb, "pubkeydbentry", "0100000000000000 01 0200000000000000", "20"+pub),
		"cursor of own keys":     record(tb, "pubkeydbcursor", "0100000000000000 00", "0300000000000000"),
		"descriptor, fill flag":  record(tb, "walletdescriptor", id, "0161"+strings.Repeat("00", 20)+"01"),
		"descriptor, no flag":    record(tb, "walletdescriptor", id, "0161"+strings.Repeat("00", 20)),
		"best block with hashes": record(tb, "bestblock", "", "80110100 02"+id+pub),
		"active of qbit":         record(tb, "activeinternalspk", "04", id),
	}
}

func TestHandMadeRecords(t *testing.T) {
	for name, r := range handMade(t) {
		checkRoundTrip(t, name, r)
	}
}

func TestParseRefuses(t *testing.T) {
	id := strings.Repeat("11", 32)
	base := coreRecords(t)[wholeWallet]
	key := base[slices.IndexFunc(base, func(r walletfile.Record) bool {
		name, _ := r.Type()
		return name == "walletdescriptorkey"
	})]
	flipped := walletfile.Record{Key: key.Key, Value: slices.Clone(key.Value)}
	flipped.Value[20] ^= 1
	tests := []struct {
		name string
		r    walletfile.Record
		want error
	}{
		{"empty key", walletfile.Record{Value: []byte("x")}, walletfile.ErrUnknownType},
		{"unknown type", record(t, "zzz", "", ""), walletfile.ErrUnknownType},
		{"legacy type", record(t, "wkey", "", ""), walletfile.ErrUnknownType},
		{"type longer than the key", walletfile.Record{Key: []byte("\x09flags")}, walletfile.ErrUnknownType},
		{"short value", record(t, "flags", "", "010203"), walletfile.ErrRecord},
		{"short key", record(t, "mkey", "01", "00"), walletfile.ErrRecord},
		{"length not in its shortest form", record(t, "name", "fd0100 61", "00"), walletfile.ErrRecord},
		{"length beyond the record", record(t, "name", "feffffff01 61", "00"), walletfile.ErrRecord},
		{"length beyond all records", record(t, "name", "ffffffffffffffffff 61", "00"), walletfile.ErrRecord},
		{"locator cut", record(t, "bestblock", "", "80110100 02"+id), walletfile.ErrRecord},
		{"extended key too short", record(t, "walletdescriptorcache", id+"00000000", "49"+strings.Repeat("ff", 73)), walletfile.ErrRecord},
		{"extended key off the curve", record(t, "walletdescriptorcache", id+"00000000", "4a"+strings.Repeat("ff", 74)), walletfile.ErrRecord},
		{"public key of wrong length", record(t, "walletdescriptorckey", id+"2002"+strings.Repeat("22", 31), "00"), walletfile.ErrRecord},
		{"checksum of a private key", flipped, walletfile.ErrRecord},
		{"transaction with a million inputs", record(t, "tx", id, "02000000 fe40420f00"), walletfile.ErrRecord},
		{"transaction with an unknown flag", record(t, "tx", id, "02000000 0002"+strings.Repeat("00", 100)), walletfile.ErrRecord},
	}
	for _, test := range tests {
		if _, err := walletfile.Parse(test.r); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

// TestParseOwnsItsMemory changes a record after it was read.
func TestParseOwnsItsMemory(t *testing.T) {
	for _, records := range coreRecords(t) {
		for _, r := range records {
			scratch := walletfile.Record{Key: slices.Clone(r.Key), Value: slices.Clone(r.Value)}
			entry, err := walletfile.Parse(scratch)
			if err != nil {
				t.Fatal(err)
			}
			clear(scratch.Key)
			clear(scratch.Value)
			if !bytes.Equal(entry.Key(), r.Key) || !bytes.Equal(entry.Value(), r.Value) {
				t.Fatalf("%T changed with its record", entry)
			}
		}
	}
}
