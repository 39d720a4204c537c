package keys

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Keys that waited for a descriptor wait no more when it has come, whether it could take
// them or not, and are wiped.
func TestPendingKeys(t *testing.T) {
	for _, wrong := range []bool{false, true} {
		of := slowRig(t, 1)
		r := rigOf(of.set.params, true)
		seed := walletfile.NewSecret(bytes.Repeat([]byte{4}, 32))
		jobs, err := r.importer.SetupJobs(seed)
		if err != nil {
			t.Fatal(err)
		}
		var batches []*Batch
		for _, job := range jobs {
			b, err := job.Make(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if wrong { // a second batch, of which the first key has two public halves
				other := *b
				other.keys = append([]descriptor.P2MRKey{b.keys[0]}, b.keys...)
				other.keys[0].Public[0] ^= 1
				batches = append(batches, &other)
			}
			batches = append(batches, b)
		}
		for _, b := range batches {
			if err := r.pool.Supply(b); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.importer.Setup(seed, 5); (err != nil) != wrong {
			t.Errorf("wrong %v: %v", wrong, err)
		}
		waiting := len(r.pool.pendingKeys)
		if !wrong && waiting > 0 || wrong && waiting != len(jobs)-1 {
			t.Errorf("wrong %v: keys of %d descriptors wait", wrong, waiting)
		}
		r.pool.Drop()
		for _, b := range batches {
			for _, key := range b.keys {
				if !bytes.Equal(key.Secret, make([]byte, len(key.Secret))) {
					t.Errorf("wrong %v: a key is not wiped", wrong)
				}
			}
		}
	}
}

// Keys of another descriptor are refused, and do not become the wallet's.
func TestOtherKeys(t *testing.T) {
	for name, spoil := range map[string]func(b *Batch, known descriptor.CacheEntry){
		"extended": func(b *Batch, known descriptor.CacheEntry) {
			known.Key[0] ^= 1
			b.cache = []descriptor.CacheEntry{known}
		},
		"of P2MR": func(b *Batch, _ descriptor.CacheEntry) {
			b.keys[0].Index = 0
		},
	} {
		r := slowRig(t, 1)
		if _, err := r.pool.NewAddress(messages.NewAddress{}); err != nil {
			t.Fatal(err)
		}
		batch, err := r.pool.Jobs(1)[0].Make(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := r.set.byID[batch.id]
		for at, key := range m.cache.keys {
			spoil(batch, descriptor.CacheEntry{Kind: at.kind, Expression: at.expression, Index: at.index, Key: key})
		}
		r.log.Take()
		if err := r.pool.Supply(batch); !errors.Is(err, errOtherKey) || len(r.log.Take()) > 0 || m.poolSize() != 0 {
			t.Errorf("%s: %v, and %d addresses", name, err, m.poolSize())
		}
		if secret := batch.keys[0].Secret; !bytes.Equal(secret, make([]byte, len(secret))) {
			t.Errorf("%s: the key is not wiped", name)
		}
	}
}

// Keys that no descriptor comes for are wiped, and a locked wallet takes none.
func TestDrop(t *testing.T) {
	r := slowRig(t, 1)
	other := slowRig(t, 1)
	seed := walletfile.NewSecret(bytes.Repeat([]byte{4}, 32))
	jobs, err := other.importer.SetupJobs(seed)
	if err != nil || len(jobs) != 2 {
		t.Fatal(len(jobs), err)
	}
	batch, err := jobs[0].Make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.pool.Supply(batch); err != nil || bytes.Equal(batch.keys[0].Secret, make([]byte, 64)) {
		t.Errorf("keys for a descriptor that is to come: %v", err)
	}
	r.pool.Drop()
	if len(r.pool.pendingKeys) > 0 || !bytes.Equal(batch.keys[0].Secret, make([]byte, 64)) {
		t.Error("keys are kept that nothing came for")
	}

	if _, err := r.pool.NewAddress(messages.NewAddress{}); err != nil {
		t.Fatal(err)
	}
	r.pool.WantAddress(messages.NewAddress{})
	jobs = r.pool.Jobs(1)
	if batch, err = jobs[0].Make(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.vault.Encrypt(walletfile.MasterKey{ID: 1}, seed)
	r.vault.Lock()
	r.log.Take()
	if err := r.pool.Supply(batch); err != nil || len(r.log.Take()) > 0 || len(r.pool.Jobs(1)) > 0 || r.pool.Wanting() {
		t.Errorf("a locked wallet takes keys: %v", err)
	}
	if !bytes.Equal(batch.keys[0].Secret, make([]byte, 64)) {
		t.Error("keys for a locked wallet are not wiped")
	}
}

// An import has only missing keys made if its range begins at the same index as that of the wallet, else all.
func TestKeysForAnImportAgain(t *testing.T) {
	r := rigOf(slowRig(t, 1).set.params, true)
	for _, step := range []struct {
		begin, end int64
		made       int
	}{{5, 6, 2}, {5, 6, 0}, {5, 7, 1}, {5, 9, 2}, {4, 9, 6}} {
		items := []messages.ImportItem{{
			Desc:  descriptor.AddChecksum("mr(pk(pqc(" + expandingXprv + "/0/*)))"),
			Range: &[2]int64{step.begin, step.end},
		}}
		if made := supply(t, r, r.importer.ImportJobs(items)); made != step.made {
			t.Errorf("[%d,%d]: %d keys are made, want %d", step.begin, step.end, made, step.made)
		}
		r.importOne(t, items[0])
		r.pool.Drop()
	}
}
