package nodefiles_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// anchors are addresses of two networks.
func anchors(tb testing.TB) []codec.Address {
	tb.Helper()
	var list []codec.Address
	for i, text := range []string{
		"127.0.0.1:18444", "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:8333", "[2a00::1]:1",
	} {
		a, err := netaddr.Parse(text, 0)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, codec.Address{Time: 100_000_000, Services: wire.ServiceFlag(1033 * i), Addr: a})
	}
	return list
}

// Anchors are there for one start, as many as may be; a file that is damaged has none.
func TestAnchors(t *testing.T) {
	want := anchors(t)
	good := addrman.MarshalAnchors(want, magic)
	for name, test := range map[string]struct {
		content []byte
		want    int
	}{
		"none":       {addrman.MarshalAnchors(nil, magic), 0},
		"more":       {good, 2},
		"of another": {addrman.MarshalAnchors(want, [4]byte{1}), 0},
		"damaged":    {append([]byte{good[0], good[1], good[2], good[3], good[4], good[5] ^ 1}, good[6:]...), 0},
		"cut":        {good[:len(good)-1], 0},
		"empty":      {[]byte{}, 0},
	} {
		f := nodefiles.Files{Dir: t.TempDir()}
		if err := f.SaveAnchors(test.content); err != nil {
			t.Fatal(err)
		}
		got := f.TakeAnchors(magic, 2, quiet)
		if len(got) != test.want || !slices.Equal(got, want[:test.want]) {
			t.Errorf("%s: %v", name, got)
		}
		if _, err := os.Stat(filepath.Join(f.Dir, "anchors.dat")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the file is left: %v", name, err)
		}
		if again := f.TakeAnchors(magic, 2, quiet); len(again) != 0 {
			t.Errorf("%s: taken again: %v", name, again)
		}
	}
}

// A disk that fails costs the anchors, and no start.
func TestAnchorsUnderFaults(t *testing.T) {
	for n := range 4 {
		disk := faultfs.New()
		f := nodefiles.Files{FS: disk, Dir: t.TempDir()}
		if err := f.SaveAnchors(addrman.MarshalAnchors(anchors(t), magic)); err != nil {
			t.Fatal(err)
		}
		disk.Inject(faultfs.From(n, syscall.EIO))
		if got := f.TakeAnchors(magic, 2, quiet); len(got) != 0 && len(got) != 2 {
			t.Errorf("calls from %d on fail: %v", n, got)
		}
	}
}

// FuzzAnchors reads files of any content. Addresses that are read are written and read
// again.
func FuzzAnchors(f *testing.F) {
	good := addrman.MarshalAnchors(anchors(f), magic)
	f.Add(good[:len(good)-chainhash.HashSize])
	f.Add(append(magic[:], 0xfe, 0xff, 0xff, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, content []byte) {
		list, err := addrman.ParseAnchors(append(bytes.Clone(content), chainhash.DoubleHashB(content)...), magic)
		if err != nil {
			return
		}
		again, err := addrman.ParseAnchors(addrman.MarshalAnchors(list, magic), magic)
		if err != nil || !slices.Equal(again, list) {
			t.Errorf("%v, %v", again, err)
		}
	})
}

// Messages are appended in Core's form, those of each direction to a file.
func TestCapture(t *testing.T) {
	f := nodefiles.Files{FS: vfs.OS, Dir: t.TempDir()}
	at := time.UnixMicro(0x0102030405060708)
	for _, payload := range []string{"ab", ""} {
		if err := f.Capture("[::1]:8333", at, "ping", []byte(payload), true); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(f.Dir, "message_capture", "[__1]_8333")
	got, err := os.ReadFile(filepath.Join(dir, "msgs_recv.dat"))
	head := "\x08\x07\x06\x05\x04\x03\x02\x01ping\x00\x00\x00\x00\x00\x00\x00\x00"
	if want := head + "\x02\x00\x00\x00ab" + head + "\x00\x00\x00\x00"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "msgs_sent.dat")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was sent: %v", err)
	}
	disk := faultfs.New()
	disk.Inject(faultfs.From(0, syscall.ENOSPC))
	f.FS = disk
	if err := f.Capture("x", at, "ping", nil, false); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("full disk: %v", err)
	}
}

// Private keys are kept for their owner alone, each in a file of its own.
func TestKeys(t *testing.T) {
	f := nodefiles.Files{Dir: t.TempDir()}
	for name, k := range map[string]nodefiles.Key{"i2p_private_key": f.I2PKey(), "onion_v3_private_key": f.OnionKey()} {
		testKey(t, name, k)
	}
}

func testKey(t *testing.T, name string, k nodefiles.Key) {
	t.Helper()
	if _, err := k.Load(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no key: %v", err)
	}
	if err := k.Save([]byte("secret")); err != nil {
		t.Fatal(err)
	}
	got, err := k.Load()
	info, _ := os.Stat(filepath.Join(k.Dir, name))
	if err != nil || string(got) != "secret" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, %v, mode %v", got, err, info.Mode())
	}
}
