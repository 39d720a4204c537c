package nodefiles_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
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

var (
	magic = [4]byte{0xfa, 0xbf, 0xb5, 0xda}
	quiet = slog.New(slog.DiscardHandler)
)

// addresses returns a file with as many addresses.
func addresses(tb testing.TB, n int) []byte {
	tb.Helper()
	m, now := addrman.New(nil), time.Unix(1_700_000_000, 0)
	for i := range n {
		a := netaddr.FromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{byte(11 + i), 2, 3, 4}), 8333))
		m.Add(codec.Address{Time: uint32(now.Unix()), Services: wire.SFNodeNetwork, Addr: a}, a, 0, now)
	}
	return m.Marshal(magic)
}

// A file is opened, made, put aside, or in the way.
func TestOpenAddrs(t *testing.T) {
	good := addresses(t, 5)
	later := bytes.Clone(good)
	later[5] += 100 // the oldest format as which it can be read
	damaged := bytes.Clone(good)
	damaged[50] ^= 1
	old := append([]byte("trawl addresses 1\n\x01"), make([]byte, 31+4)...) // a key, and no entries
	sum := sha256.Sum256(old)
	old = append(old, sum[:]...)
	for _, test := range []struct {
		name    string
		content []byte // nil: no file
		want    int    // addresses, -1 for an error
		aside   bool
	}{
		{"none", nil, 0, false},
		{"good", good, 5, false},
		{"of a later format", later, 0, true},
		{"of an earlier revision", old, 0, false},
		{"damaged", damaged, -1, false},
		{"empty", []byte{}, -1, false},
		{"cut", good[:len(good)-1], -1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := nodefiles.Files{FS: vfs.OS, Dir: t.TempDir()}
			path := filepath.Join(f.Dir, "peers.dat")
			if test.content != nil {
				if err := os.WriteFile(path, test.content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			addrs, err := f.OpenAddrs(magic, quiet)
			if test.want < 0 {
				var refused *nodefiles.AddrsError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), path) {
					t.Errorf("got %v", err)
				}
				if left, _ := os.ReadFile(path); !bytes.Equal(left, test.content) {
					t.Error("a file that cannot be read was changed")
				}
				return
			}
			if err != nil || addrs.Len() != test.want {
				t.Fatalf("got %v", err)
			}
			aside, _ := os.ReadFile(path + ".bak")
			if (aside != nil) != test.aside || test.aside && !bytes.Equal(aside, test.content) {
				t.Errorf("%d bytes were put aside", len(aside))
			}
			again, err := f.OpenAddrs(magic, quiet)
			if err != nil || again.Len() != test.want {
				t.Errorf("opened again: %v", err)
			}
			if now, _ := os.ReadFile(path); addrman.IsOld(now) || len(now) == 0 {
				t.Error("the file is not in the format of now")
			}
		})
	}
}

// Opening succeeds even if the disk takes no writes. It fails only if a file is
// in the way and cannot be put aside; then that file stays.
func TestOpenAddrsUnderFaults(t *testing.T) {
	later := addresses(t, 5)
	later[5] += 100
	for n := range calls + 2 {
		for _, content := range [][]byte{nil, later} {
			disk := faultfs.New()
			f := nodefiles.Files{FS: disk, Dir: t.TempDir()}
			path := filepath.Join(f.Dir, "peers.dat")
			if content != nil {
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			disk.Inject(faultfs.From(n, syscall.EIO))
			addrs, err := f.OpenAddrs(magic, quiet)
			if inTheWay := content != nil && n == 0; (err != nil) != inTheWay || err == nil && addrs.Len() != 0 {
				t.Errorf("calls from %d on fail, file of %d bytes: %v", n, len(content), err)
			}
			if content == nil {
				continue
			}
			kept, _ := os.ReadFile(path)
			if aside, err := os.ReadFile(path + ".bak"); err == nil {
				kept = aside
			}
			if !bytes.Equal(kept, content) {
				t.Errorf("calls from %d on fail: the file is lost", n)
			}
		}
	}
}

// FuzzOpenAddrs opens files of any content. Each file is read, put aside or left
// unchanged, and addresses that are read are written and read again.
func FuzzOpenAddrs(f *testing.F) {
	good := addresses(f, 3)
	f.Add(good)
	f.Add(good[:len(good)-chainhash.HashSize])
	f.Add(good[:len(good)/2])
	f.Add([]byte("trawl addresses 1\n"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		openAny(t, content)
		openAny(t, append(bytes.Clone(content), chainhash.DoubleHashB(content)...)) // else none passes the checksum
	})
}

func openAny(t *testing.T, content []byte) {
	t.Helper()
	files := nodefiles.Files{FS: faultfs.New(), Dir: t.TempDir()} // which waits for no disk
	path := filepath.Join(files.Dir, "peers.dat")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	addrs, err := files.OpenAddrs(magic, quiet)
	kept, _ := os.ReadFile(path)
	aside, _ := os.ReadFile(path + ".bak")
	if err != nil {
		if !bytes.Equal(kept, content) {
			t.Errorf("changed after %v", err)
		}
		return
	}
	if !bytes.Equal(kept, content) && !bytes.Equal(aside, content) && !addrman.IsOld(content) {
		t.Error("the file is lost")
	}
	if err := files.SaveAddrs(addrs.Marshal(magic)); err != nil {
		t.Fatal(err)
	}
	again, err := files.OpenAddrs(magic, quiet)
	if err != nil || again.Len() != addrs.Len() {
		t.Errorf("read back: %v", err)
	}
}
