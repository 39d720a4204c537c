package wallets

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/store/walletdb"
)

// retryAfter is the shortest time between a failed write and the next try. It
// keeps a disk that comes and goes from using up the restarts of the wallet's
// actor.
const retryAfter = 2 * time.Second

// fault is shared by the instances of a wallet's actor. It records that the
// file cannot be written: the disk is full, or the file was deleted.
//
// The first write that fails ends its instance, as the ledger is ahead of the file
// then. The next instance takes over the open file, which may have no name any
// more, and serves all requests that only read. It follows the chain in memory:
// changes that come from the chain are kept until they can be written. Requests
// that change the wallet are refused until a write succeeds. Each of them tries to
// write.
type fault struct {
	mu    sync.Mutex
	err   error // nil: the last write succeeded
	tried time.Time
	kept  *walletdb.DB // from one instance to the next
}

// begin notes that a write failed. It reports whether the one before succeeded.
func (f *fault) begin(err error, now time.Time) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	first = f.err == nil
	f.err, f.tried = err, now
	return first
}

// end notes that a write succeeded. It reports whether the one before failed.
func (f *fault) end() (over bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	over = f.err != nil
	f.err = nil
	return over
}

func (f *fault) present() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err != nil
}

// mayTry reports whether a write may be tried.
func (f *fault) mayTry(now time.Time, after time.Duration) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err == nil || now.Sub(f.tried) >= after
}

// answer is the error that refuses requests.
func (f *fault) answer() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return files.NotWritten(f.err)
}

// reason says in words why a wallet was not loaded: that its file cannot be
// written, else the text of otherwise.
func (f *fault) reason(otherwise error) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		return otherwise.Error()
	}
	return fmt.Sprintf("The wallet could not be written to disk: %s.", walletdb.Reason(f.err))
}

// keep hands the open file to the next instance.
func (f *fault) keep(file *walletdb.DB) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = file
}

// take returns the file that was kept, nil if none was.
func (f *fault) take() *walletdb.DB {
	f.mu.Lock()
	defer f.mu.Unlock()
	file := f.kept
	f.kept = nil
	return file
}

// warn tells the operator what the wallet needs; an empty text takes the warning
// back.
func (s *spec) warn(text string) {
	if s.cfg.Warned != nil {
		s.cfg.Warned.Publish(nodemsg.WarningChanged{Of: fmt.Sprintf("wallet %q", s.Name), Text: text})
	}
}

// warningOf tells the operator why a wallet cannot be written, and how to save it if
// its file is gone.
func warningOf(name string, err error) string {
	if errors.Is(err, walletdb.ErrMoved) {
		return fmt.Sprintf("The file of wallet %q was moved or deleted while the wallet was loaded. "+
			"Save the wallet to another place with backupwallet before it is unloaded or the node stops.", name)
	}
	return fmt.Sprintf(
		"Wallet %q could not be written to disk: %s. It is only read until it can be.", name, walletdb.Reason(err),
	)
}

// latest leaves the last change of each record.
func latest(changes []records.Change) []records.Change {
	last := make(map[string]int, len(changes))
	for i, change := range changes {
		last[string(change.Key)] = i
	}
	var kept []records.Change
	for i, change := range changes {
		if last[string(change.Key)] == i {
			kept = append(kept, change)
		}
	}
	return kept
}

// writable waits until the file can be written, or says why it cannot.
func (t *caller) writable(j *ask.Job) error {
	if !t.fault.present() {
		return nil
	}
	return t.change(j, func() error {
		t.ledger.Txs().SaveBestBlock(t.position()) // so that there is something to write
		return nil
	})
}
