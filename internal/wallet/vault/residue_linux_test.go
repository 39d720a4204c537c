package vault_test

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// veil hides the secrets that a test looks for from itself.
const veil = 0xa5

// hidden are secrets whose bytes are nowhere but where a test has put them.
type hidden [][]byte

// newHidden makes n secrets of a size.
func newHidden(n, size int) (h hidden) {
	for range n {
		veiled := make([]byte, size)
		rand.Read(veiled)
		h = append(h, veiled)
	}
	return h
}

// into writes secret i.
func (h hidden) into(b []byte, i int) {
	for j, c := range h[i] {
		b[j] = c ^ veil
	}
}

// overwriteStack overwrites what functions that have returned left on the stack.
//
//go:noinline
func overwriteStack(depth int) (sum int) {
	var frame [1 << 10]byte
	for i := range frame {
		frame[i] = byte(depth)
	}
	if depth > 0 {
		sum = overwriteStack(depth - 1)
	}
	return sum + int(frame[depth])
}

// overwriteSignalStack overwrites the registers that the last copy left in a signal's frame: the runtime
// interrupts goroutines by signals, whose stacks are in Go's memory. The goroutine must be locked to its thread.
func overwriteSignalStack(t *testing.T) {
	t.Helper()
	var from, to [256]byte // so many that the copy takes all of the registers
	from[0] = byte(len(t.Name()))
	copy(to[:], from[:])
	if err := syscall.Tgkill(os.Getpid(), syscall.Gettid(), syscall.SIGURG); err != nil {
		t.Fatal(err)
	}
	if to[0] != from[0] {
		t.Fatal("not copied")
	}
}

// count returns how many copies of the secrets there are in Go's memory.
func (h hidden) count(t *testing.T) (n int) {
	t.Helper()
	overwriteStack(200)
	overwriteSignalStack(t)
	const part, overlap = 1 << 20, 1 << 8
	buffer, err := syscall.Mmap( // not of Go, so that what is looked for is not found there
		-1, 0, part, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE,
	)
	if err != nil {
		t.Skip(err)
	}
	defer syscall.Munmap(buffer)
	memory, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Skip(err)
	}
	defer memory.Close()
	from, to := goMemory(t)
	for at := from; at < to; at += part - overlap {
		got, err := memory.ReadAt(buffer[:min(part, to-at)], at)
		if err != nil {
			t.Fatal(err)
		}
		n += h.countIn(buffer[:got], part-overlap)
	}
	return n
}

// countIn returns how many copies of the secrets begin in the first bytes of a part of memory. It unveils nothing and
// looks at one byte at a time: the runtime keeps the registers of a goroutine that it interrupts, another copy.
func (h hidden) countIn(part []byte, begins int) (n int) {
	var starts [256]bool
	for _, veiled := range h {
		starts[veiled[0]^veil] = true
	}
	for i, c := range part[:min(begins, len(part))] {
		if !starts[c] {
			continue
		}
		for _, veiled := range h {
			if isVeiled(part[i:], veiled) {
				n++
			}
		}
	}
	return n
}

// isVeiled reports whether bytes begin with the secret that is veiled.
func isVeiled(b, veiled []byte) bool {
	if len(b) < len(veiled) {
		return false
	}
	for i, c := range veiled {
		if b[i]^veil != c {
			return false
		}
	}
	return true
}

// goMemory returns the addresses of the memory that Go allocates from.
func goMemory(t *testing.T) (from, to int64) {
	t.Helper()
	some := int64(uintptr(unsafe.Pointer(new([64]byte))))
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	defer maps.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x rw-p", &from, &to); err == nil && from <= some && some < to {
			return from, to
		}
	}
	t.Fatal("no memory")
	return 0, 0
}

func wipe(changes []records.Change) {
	for _, change := range changes {
		clear(change.Value)
	}
}

// Secrets that were handed out and wiped leave only the vault's own keys, if it is not
// encrypted. If it is encrypted or closed, nothing is left.
func TestNothingIsLeft(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would move the stack
	runtime.LockOSThread()                           // whose signal stack is overwritten
	defer runtime.UnlockOSThread()
	overwriteStack(200)
	for _, encrypted := range []bool{false, true} {
		const n = 5
		kept := 2 * n
		scalars, pqc := newHidden(n, 32), newHidden(n, 64)
		id := chainhash.Hash{1}
		var log records.Log
		v := vault.New(&log)
		if encrypted {
			record, master := masterOf(1)
			v.Encrypt(record, master)
			kept = 0
		}
		count := func(when string, want int) {
			t.Helper()
			if got := scalars.count(t) + pqc.count(t); got != want {
				t.Errorf("encrypted %v, %s: %d copies of keys, want %d", encrypted, when, got, want)
			}
		}
		given := make([]descriptor.PrivateKey, n)
		for i := range n {
			given[i].Compressed = true
			scalars.into(given[i].Scalar[:], i)
		}
		v.AddKeys(id, given)
		clear(given)
		publics := make([]slhdsa.PublicKey, n)
		for i := range n {
			secret := make([]byte, len(pqc[i]))
			pqc.into(secret, i)
			publics[i] = slhdsa.PublicKey(secret[32:])
			v.AddPQC(id, &descriptor.P2MRKey{Public: publics[i], Secret: secret})
			clear(secret)
		}
		wipe(log.Take())
		if _, _, err := v.ReserveSignatures(map[slhdsa.PublicKey]uint32{publics[0]: 1}); err != nil {
			t.Fatal(err)
		}
		wipe(log.Take())
		count("stored", kept)
		v.WithPrivateKeys(id, func(keys []descriptor.PrivateKey) {
			count("handed out", kept+n)
			if len(keys) != n {
				t.Errorf("%d keys, want %d", len(keys), n)
			}
		})
		for _, public := range publics {
			v.PQCSecret(public).Zero()
		}
		count("wiped", kept)
		v.Close()
		count("closed", 0)
	}
}

// The secrets in a file's records are the reader's: the vault has copies. A descriptor
// without private keys gets none.
func TestLoadCopies(t *testing.T) {
	keys := pqcKeys()
	v := vault.New(new(records.Log))
	scalar := keyOf(5)
	file := walletfile.Descriptor{
		Keys: []walletfile.DescriptorKey{{Public: keyPublic(5), Secret: walletfile.NewSecret(scalar.Scalar[:])}},
		PQCKeys: []walletfile.PQCKey{
			{Public: keys[0].Public, Secret: walletfile.NewSecret(keys[0].Secret)},
		},
	}
	file.ID = chainhash.Hash{1}
	v.Load(&file)
	file.Keys[0].Secret.Zero()
	file.PQCKeys[0].Secret.Zero()
	for _, u := range v.UncheckedKeys(1) {
		v.Checked(u, u.Check(t.Context()))
	}
	if !reads(v, file.ID, 5) || !signs(v, slhdsa.PublicKey(keys[0].Public)) || !v.HasKeys(file.ID) {
		t.Error("the keys of the file are gone with it")
	}
	none := walletfile.Descriptor{}
	none.ID = chainhash.Hash{2}
	v.Load(&none)
	if v.HasKeys(none.ID) || v.HasKeys(chainhash.Hash{3}) || len(privateKeys(v, none.ID)) > 0 {
		t.Error("a descriptor without private keys has some")
	}
}
