package blockfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/vfs"
)

var testMagic = [4]byte{0xfa, 0xbf, 0xb5, 0xda}

// testBlock returns n bytes that stand for a block.
func testBlock(fill byte, n int) []byte { return bytes.Repeat([]byte{fill}, n) }

// appendRecord appends a record that says it has length bytes.
func appendRecord(dst []byte, length int, block []byte) []byte {
	dst = append(dst, testMagic[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(length))
	return append(dst, block...)
}

// scanAll returns all blocks of a file.
func scanAll(tb testing.TB, file []byte, key Key, maxBlock int) []Record {
	tb.Helper()
	s := NewScanner(bytes.NewReader(file), int64(len(file)), testMagic, key, maxBlock)
	var records []Record
	for {
		record, err := s.Next()
		if errors.Is(err, io.EOF) {
			return records
		}
		if err != nil {
			tb.Fatal(err)
		}
		records = append(records, record)
	}
}

// scanNaive is the oracle: Core's import, byte by byte.
func scanNaive(file []byte, maxBlock int) []Record {
	var records []Record
	for pos := 0; pos+HeaderSize <= len(file); pos++ {
		if [4]byte(file[pos:]) != testMagic {
			continue
		}
		length := int(binary.LittleEndian.Uint32(file[pos+4:]))
		if length < minBlockSize || length > maxBlock || pos+HeaderSize+length > len(file) {
			continue
		}
		records = append(records, Record{Offset: int64(pos), Block: file[pos+HeaderSize:][:length]})
		pos += HeaderSize + length - 1
	}
	return records
}

// sameRecords compares what two scanners found.
func sameRecords(got, want []Record) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i].Offset != want[i].Offset || !bytes.Equal(got[i].Block, want[i].Block) {
			return false
		}
	}
	return true
}

func TestScanner(t *testing.T) {
	a, b := testBlock('a', 100), testBlock('b', 200)
	whole := appendRecord(appendRecord(nil, len(a), a), len(b), b)
	both := []string{"a", "b"}
	for _, tc := range []struct {
		name string
		file []byte
		want []string
	}{
		{"empty", nil, nil},
		{"two blocks", whole, both},
		{"padding", append(bytes.Clone(whole), make([]byte, 3*scanWindow)...), both},
		{"padding between", append(
			appendRecord(nil, len(a), a), appendRecord(make([]byte, scanWindow), len(b), b)...,
		), both},
		{"garbage in front", append([]byte{0xfa, 0xbf, 0xfa}, whole...), both},
		{"magic twice", append(testMagic[:], whole...), both},
		{"length too small", append(appendRecord(nil, 79, a), whole...), both},
		{"length too large", append(appendRecord(nil, MaxBlockSize+1, nil), whole...), both},
		{"length beyond the end", append(appendRecord(nil, 1000, nil), whole...), both},
		{"cut in the last block", whole[:len(whole)-1], []string{"a"}},
		{"cut in the last header", whole[:HeaderSize+len(a)+5], []string{"a"}},
	} {
		for _, key := range []Key{{}, {1, 2, 3, 4, 5, 6, 7, 8}} {
			file := bytes.Clone(tc.file)
			key.XOR(file, 0)
			var got []string
			for _, record := range scanAll(t, file, key, MaxBlockSize) {
				got = append(got, string(record.Block[:1]))
			}
			if len(got) != len(tc.want) {
				t.Errorf("%s, key %x: found %v, want %v", tc.name, key, got, tc.want)
			}
		}
	}
}

// TestScannerWindow puts a record across every byte of the window's edge.
func TestScannerWindow(t *testing.T) {
	block := testBlock('x', 90)
	for at := scanWindow - len(block) - 2*HeaderSize; at <= scanWindow+HeaderSize; at++ {
		file := append(appendRecord(make([]byte, at), len(block), block), 1, 2, 3)
		if got := scanAll(t, file, Key{}, MaxBlockSize); len(got) != 1 || got[0].Offset != int64(at) {
			t.Fatalf("record at %d: found %v", at, got)
		}
	}
	large := testBlock('y', 3*scanWindow)
	file := appendRecord(appendRecord([]byte{0}, len(large), large), len(block), block)
	if got := scanAll(t, file, Key{}, MaxBlockSize); !sameRecords(got, scanNaive(file, MaxBlockSize)) || len(got) != 2 {
		t.Fatalf("found %d records around a large block", len(got))
	}
}

func TestScannerAgainstNaive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var file []byte
		for range rapid.IntRange(0, 6).Draw(rt, "pieces") {
			switch rapid.IntRange(0, 3).Draw(rt, "piece") {
			case 0:
				file = append(file, rapid.SliceOfN(rapid.SampledFrom(append(testMagic[:], 0, 90)), 0, 30).Draw(rt, "garbage")...)
			case 1:
				file = appendRecord(file, rapid.IntRange(0, 300).Draw(rt, "length"), nil)
			default:
				n := rapid.IntRange(minBlockSize, 150).Draw(rt, "size")
				file = appendRecord(file, n, testBlock('b', n))
			}
		}
		want := scanNaive(bytes.Clone(file), 200)
		key := Key(rapid.SliceOfN(rapid.Byte(), 8, 8).Draw(rt, "key"))
		key.XOR(file, 0)
		if got := scanAll(t, file, key, 200); !sameRecords(got, want) {
			rt.Fatalf("found %v, want %v", got, want)
		}
	})
}

func FuzzScanner(f *testing.F) {
	f.Add(appendRecord(nil, 90, testBlock('a', 90)), uint64(0))
	f.Add(appendRecord(appendRecord([]byte{0xfa}, 500, nil), 80, testBlock('a', 80)), uint64(7))
	f.Add(bytes.Repeat(testMagic[:], 50), uint64(1)<<63)
	f.Fuzz(func(t *testing.T, file []byte, key uint64) {
		want := scanNaive(file, 1000)
		k := Key(binary.LittleEndian.AppendUint64(nil, key))
		hidden := bytes.Clone(file)
		k.XOR(hidden, 0)
		if got := scanAll(t, hidden, k, 1000); !sameRecords(got, want) {
			t.Fatalf("found %v, want %v", got, want)
		}
	})
}

// TestScanDir reads files in order, with the key beside them, and can stop.
func TestScanDir(t *testing.T) {
	dir := t.TempDir()
	key, err := InitKey(vfs.OS, dir, true)
	if err != nil {
		t.Fatal(err)
	}
	files := NewFiles(vfs.OS, dir, Blocks, testMagic, key)
	defer files.Close()
	for i := range 3 {
		end := int64(0)
		for j := range 2 {
			if end, err = files.WriteRecord(i*2, end, testBlock(byte(i*2+j), 80), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "blk0x.dat"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []byte
	for record, err := range ScanDir(vfs.OS, dir, testMagic, MaxBlockSize) {
		if err != nil {
			t.Fatal(err)
		}
		if record.File != int(record.Block[0])&^1 {
			t.Fatalf("block %d comes from file %d", record.Block[0], record.File)
		}
		if got = append(got, record.Block[0]); len(got) == 5 {
			break
		}
	}
	if !bytes.Equal(got, []byte{0, 1, 2, 3, 4}) {
		t.Fatalf("found blocks %v", got)
	}
	for record, err := range ScanFile(Blocks.Path(dir, 4), testMagic, MaxBlockSize) {
		if err != nil || record.Block[0] != 4 {
			t.Fatalf("first block of file 4 is %d, %v", record.Block[0], err)
		}
		break
	}
	for _, err := range ScanFile(Blocks.Path(dir, 1), testMagic, MaxBlockSize) {
		if !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("missing file: %v", err)
		}
	}
	for _, err := range ScanDir(vfs.OS, filepath.Join(dir, "none"), testMagic, MaxBlockSize) {
		t.Fatalf("missing directory: %v", err)
	}
}
