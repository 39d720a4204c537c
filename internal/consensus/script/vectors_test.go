package script

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// flagNames are the names that Core's test data has for the flags.
var flagNames = map[string]Flags{
	"P2SH": P2SH, "STRICTENC": StrictEnc, "DERSIG": DERSig, "LOW_S": LowS, "NULLDUMMY": NullDummy,
	"SIGPUSHONLY": SigPushOnly, "MINIMALDATA": MinimalData, "DISCOURAGE_UPGRADABLE_NOPS": DiscourageUpgradableNOPs,
	"CLEANSTACK": CleanStack, "CHECKLOCKTIMEVERIFY": CheckLockTimeVerify, "CHECKSEQUENCEVERIFY": CheckSequenceVerify,
	"WITNESS": Witness, "DISCOURAGE_UPGRADABLE_WITNESS_PROGRAM": DiscourageUpgradableWitnessProgram,
	"MINIMALIF": MinimalIf, "NULLFAIL": NullFail, "WITNESS_PUBKEYTYPE": WitnessPubKeyType,
	"CONST_SCRIPTCODE": ConstScriptCode, "TAPROOT": Taproot,
	"DISCOURAGE_UPGRADABLE_TAPROOT_VERSION": DiscourageUpgradableTaprootVersion,
	"DISCOURAGE_OP_SUCCESS":                 DiscourageOpSuccess,
	"DISCOURAGE_UPGRADABLE_PUBKEYTYPE":      DiscourageUpgradablePubKeyType,
}

// allFlags are all flags.
const allFlags = Standard | SigPushOnly

func parseFlags(tb testing.TB, names string) (flags Flags) {
	tb.Helper()
	if names == "" || names == "NONE" {
		return 0
	}
	for name := range strings.SplitSeq(names, ",") {
		flag, ok := flagNames[name]
		if !ok {
			tb.Fatalf("no flag %q", name)
		}
		flags |= flag
	}
	return flags
}

// trim takes away flags that need what is not there, and fill adds what they need.
func trim(f Flags) Flags {
	if f&P2SH == 0 {
		f &^= Witness
	}
	if f&Witness == 0 {
		f &^= CleanStack
	}
	return f
}

func fill(f Flags) Flags {
	if f&CleanStack != 0 {
		f |= Witness
	}
	if f&Witness != 0 {
		f |= P2SH
	}
	return f
}

// unpack returns a packed file of testdata.
func unpack(tb testing.TB, name string) []byte {
	tb.Helper()
	file, err := os.Open("testdata/" + name + ".gz")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

func read(tb testing.TB, name string, into any) {
	tb.Helper()
	if err := json.Unmarshal(unpack(tb, name+".json"), into); err != nil {
		tb.Fatal(err)
	}
}

func unhex(tb testing.TB, text string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func parseTx(tb testing.TB, text string) *wire.MsgTx {
	tb.Helper()
	tx := new(wire.MsgTx)
	if err := tx.Deserialize(bytes.NewReader(unhex(tb, text))); err != nil {
		tb.Fatal(err)
	}
	return tx
}

// assemble reads a script as Core's test data has them: opcodes with or without
// their prefix, numbers, texts in quotes, and bytes as they are.
func assemble(tb testing.TB, text string) (script []byte) {
	tb.Helper()
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		code, isOp := txscript.OpcodeByName["OP_"+strings.TrimPrefix(word, "OP_")]
		switch {
		case err == nil && (n == -1 || n >= 1 && n <= 16):
			script = append(script, byte(op1-1+n))
		case err == nil:
			script = appendPush(script, appendNumber(nil, n))
		case strings.HasPrefix(word, "0x"):
			script = append(script, unhex(tb, word[2:])...)
		case len(word) >= 2 && word[0] == '\'':
			script = appendPush(script, []byte(word[1:len(word)-1]))
		case isOp:
			script = append(script, code)
		default:
			tb.Fatalf("no opcode %q", word)
		}
	}
	return script
}

// subsets calls f with all subsets of flags that are left once those that need
// others are trimmed; short tests take a sample.
func subsets(flags Flags, every uint64, f func(Flags)) {
	seed := uint64(flags)
	for part := flags; ; part = (part - 1) & flags {
		seed = seed*6364136223846793005 + 1442695040888963407
		if trim(part) == part && (part == flags || seed>>33%every == 0) {
			f(part)
		}
		if part == 0 {
			return
		}
	}
}

// soak reports whether tests shall take everything, and not a sample.
func soak() bool { return os.Getenv("TRAWL_SOAK") != "" }

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

func repeat(text string, n int) string { return strings.Repeat(text, n) }
