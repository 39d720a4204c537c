package coinfile_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/coinfile"
)

// An output is one of a file.
type output struct {
	at   wire.OutPoint
	coin blockfile.Coin
}

var limits = coinfile.Limits{Height: 200, MaxMoney: 21e14}

// known knows two networks.
func known(m [4]byte) string {
	switch m {
	case magic:
		return "regtest"
	case [4]byte{1, 2, 3, 4}:
		return "other"
	}
	return ""
}

// readAll reads a file to its end.
func readAll(disk vfs.FS, path string) (list []output, err error) {
	r, err := coinfile.Open(disk, path, magic, known)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		var o output
		if err := r.Next(&o.at, &o.coin, limits); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return list, err
		}
		o.coin.Script = bytes.Clone(o.coin.Script)
		list = append(list, o)
	}
}

// readBytes reads a file with a content.
func readBytes(tb testing.TB, content []byte) ([]output, error) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "coins")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	return readAll(vfs.OS, path)
}

func good(tb testing.TB) []byte {
	tb.Helper()
	content, err := hex.DecodeString(want)
	if err != nil {
		tb.Fatal(err)
	}
	return content
}

func TestRead(t *testing.T) {
	list, err := readBytes(t, good(t))
	if err != nil || len(list) != 3 {
		t.Fatalf("%d outputs, %v", len(list), err)
	}
	for i, w := range []output{
		{
			wire.OutPoint{Hash: chainhash.Hash{1}},
			blockfile.Coin{Height: 5, Coinbase: true, Amount: 1, Script: []byte{0x51, 0x52}},
		},
		{
			wire.OutPoint{Hash: chainhash.Hash{1}, Index: 300},
			blockfile.Coin{Height: 5, Amount: 1e8, Script: []byte{0x51}},
		},
		{
			wire.OutPoint{Hash: chainhash.Hash{2}, Index: 7},
			blockfile.Coin{Height: 200, Script: append(append([]byte{0xa9, 20}, make([]byte, 20)...), 0x87)},
		},
	} {
		g := list[i]
		if g.at != w.at || g.coin.Height != w.coin.Height || g.coin.Coinbase != w.coin.Coinbase ||
			g.coin.Amount != w.coin.Amount || !bytes.Equal(g.coin.Script, w.coin.Script) {
			t.Errorf("output %d is %+v, want %+v", i, g, w)
		}
	}
}

// headSize is the length of the beginning of a file.
const headSize = 5 + 2 + 4 + 32 + 8

// file is a file with a number of outputs and bytes behind the beginning.
func file(tb testing.TB, coins uint64, rest ...byte) []byte {
	tb.Helper()
	head := good(tb)[:headSize]
	binary.LittleEndian.PutUint64(head[43:], coins)
	return append(head, rest...)
}

// oneCoin is a transaction with an output whose bytes behind the index are given.
func oneCoin(rest ...byte) []byte {
	return append(append(make([]byte, chainhash.HashSize), 1, 0), rest...)
}

// Reasons to refuse a file, in Core's words.
func TestRefused(t *testing.T) {
	change := func(at int, to ...byte) []byte {
		b := good(t)
		copy(b[at:], to)
		return b
	}
	truncated := func(n string) string {
		return "Bad snapshot format or truncated snapshot after deserializing " + n + " coins"
	}
	for name, test := range map[string]struct {
		content []byte
		want    string
	}{
		"empty": {nil, "AutoFile::read: end of file: iostream error"},
		"magic": {change(0, 'x'), "Invalid UTXO set snapshot magic bytes. Please check if this is indeed a snapshot file " +
			"or if you are using an outdated snapshot format.: iostream error"},
		"version": {change(5, 1), "Version of snapshot 1 does not match any of the supported versions.: iostream error"},
		"long version": {
			change(6, 1), "Version of snapshot 258 does not match any of the supported versions.: iostream error",
		},
		"network": {change(7, 1, 2, 3, 4), "The network of the snapshot (other) does not match the network of this node " +
			"(regtest).: iostream error"},
		"unknown network": {change(7, 9), "This snapshot has been created for an unrecognized network. This could be a " +
			"custom signet, a new testnet or possibly caused by data corruption.: iostream error"},
		"no version": {good(t)[:6], "AutoFile::read: end of file: iostream error"},
		"no network": {good(t)[:10], "AutoFile::read: end of file: iostream error"},
		"no count":   {good(t)[:headSize-1], "AutoFile::read: end of file: iostream error"},
		"fewer":      {change(43, 2), "Bad snapshot - coins left over after deserializing 2 coins"},
		"more":       {change(43, 4), truncated("3")},
		"cut off":    {good(t)[:headSize+40], truncated("1")},
		"too many": {
			change(headSize+32, 0xfd, 0xff, 0xff),
			"Mismatch in coins count in snapshot metadata and actual snapshot data",
		},
		"long count":  {change(headSize+32, 0xfd, 1, 0), truncated("0")},
		"great count": {file(t, math.MaxUint64, append(make([]byte, 32), 0xfe, 1, 0, 0, 2)...), truncated("0")},
		"height":      {file(t, 1, oneCoin(0x82, 0x12, 0, 7, 0x51)...), "Bad snapshot data after deserializing 0 coins"},
		"long height": {file(t, 1, oneCoin(0xff, 0xff, 0xff, 0xff, 0xff, 0)...), truncated("0")},
		"amount": {
			file(t, 1, oneCoin(2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 7, 0x51)...),
			"Bad snapshot data after deserializing 0 coins - bad tx out value",
		},
		"great script": {file(t, 1, oneCoin(2, 1, 0x8e, 0xfe, 0xfe, 0xfe, 0x7f)...), truncated("0")},
		"nothing":      {file(t, 1, make([]byte, 33)...), truncated("0")},
	} {
		_, err := readBytes(t, test.content)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	for name, path := range map[string]string{"no file": filepath.Join(t.TempDir(), "none"), "a device": os.DevNull} {
		if _, err := readAll(vfs.OS, path); !errors.Is(err, coinfile.ErrOpen) {
			t.Errorf("%s: %v", name, err)
		}
	}
	const failed = "AutoFile::read: fread failed: iostream error"
	if _, err := readAll(vfs.OS, t.TempDir()); err == nil || err.Error() != failed {
		t.Errorf("a folder: %v", err)
	}
}

// Scripts of any form, a script that is too long to be spent, and transactions without outputs.
func TestForms(t *testing.T) {
	body := make([]byte, 33) // a transaction of none
	body = append(body, oneCoin(2, 0)...)
	body = append(body, 0x80|0x4d, 0x17) // 10,001 bytes and 6
	body = append(body, make([]byte, 10_001)...)
	body = append(body, oneCoin(append([]byte{2, 0, 4}, make([]byte, 32)...)...)...) // x is on no curve
	list, err := readBytes(t, file(t, 2, body...))
	if err != nil || len(list) != 2 {
		t.Fatalf("%d outputs, %v", len(list), err)
	}
	if !bytes.Equal(list[0].coin.Script, []byte{0x6a}) || len(list[1].coin.Script) != 0 {
		t.Errorf("scripts %x, %x", list[0].coin.Script, list[1].coin.Script)
	}
}

// failing is a disk whose files cannot be read beyond some bytes.
type failing struct {
	vfs.FS
	after int
}

func (f failing) OpenFile(name string, flag int, mode os.FileMode) (vfs.File, error) {
	file, err := f.FS.OpenFile(name, flag, mode)
	return &failingFile{file, f.after}, err
}

type failingFile struct {
	vfs.File
	left int
}

func (f *failingFile) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, errors.New("injected")
	}
	n, err := f.File.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}

// A file that cannot be read to its end is refused, wherever that is.
func TestReadFails(t *testing.T) {
	path, content := filepath.Join(t.TempDir(), "coins"), good(t)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for after := range content {
		want := "Bad snapshot format or truncated snapshot"
		if after < headSize {
			want = "AutoFile::read: fread failed: iostream error"
		}
		if _, err := readAll(failing{vfs.OS, after}, path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("after %d bytes: %v, want %s", after, err, want)
		}
	}
}

// FuzzRead: no file takes more memory than its bytes allow. Every file is read by the rules:
// outputs that are in the order of files are written back to the same bytes.
func FuzzRead(f *testing.F) {
	f.Add(good(f))
	f.Add(file(f, 1, oneCoin(2, 1, 0x8e, 0xfe, 0xfe, 0xfe, 0x7f)...))
	f.Add(file(f, math.MaxUint64, oneCoin(2, 1, 7, 0x51)...))
	f.Fuzz(func(t *testing.T, content []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		list, err := readBytes(t, content)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20+uint64(len(content))*400 {
			t.Errorf("%d bytes of memory for %d of the file", took, len(content))
		}
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "again")
		at := chainhash.Hash(content[11:])
		w, err := coinfile.Create(vfs.OS, path, magic, &at)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			if err := w.Add(&list[i].at, list[i].coin); err != nil {
				_ = w.Abort()
				return // another order
			}
		}
		if err := w.Finish(); err != nil {
			t.Fatal(err)
		}
		again, err := readAll(vfs.OS, path)
		if err != nil || len(again) != len(list) {
			t.Errorf("written again: %d outputs, %v; want %d", len(again), err, len(list))
		}
	})
}
