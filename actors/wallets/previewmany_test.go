package wallets_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// A preview of a file with as many records as one may have ends in its time; of one with more it says so, soon
// and without reading it to the end. The memory for either is the most that the test has had.
func TestPreviewOfManyRecords(t *testing.T) {
	if raceEnabled {
		t.Skip("`make large` runs it without the race detector")
	}
	const most = 1_000_000
	few := 20_000
	if os.Getenv("TRAWL_SOAK") != "" {
		few = most - 1000 // with those that it has anyway
	}
	r := small(t, setup{})
	source := backup(t, "backups", "one-key")
	label := func(from, to int) {
		db, err := walletdb.Open(source, walletdb.Options{Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(func(b *walletdb.Batch) error {
			for n := from; n < to; n++ {
				entry := walletfile.Name{Address: fmt.Sprint("address ", n), Label: "of a customer"}
				if err := b.PutEntry(entry); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	label(0, few)
	began := time.Now()
	got := do(t, r.ref, messages.PreviewRestore{Backup: source})
	if got.Problem != "" || got.Labels < few {
		t.Errorf("%d labels: %s", got.Labels, got.Problem)
	}
	t.Logf("a preview of %d records and %d MB took %v, memory %d MB at most",
		few, got.Size>>20, time.Since(began).Round(time.Millisecond), mostMemory()>>20)
	if few < most/2 {
		return
	}
	label(few, most+1)
	began = time.Now()
	_, err := ask.Ask(t.Context(), r.ref, messages.PreviewRestore{Backup: source})
	if err == nil || !strings.Contains(err.Error(), "more than 1000000 records") {
		t.Errorf("more records than may be: %v", err)
	}
	t.Logf("one more was refused after %v", time.Since(began).Round(time.Millisecond))
}

// mostMemory is the most that this process has had, 0 where the system does not tell.
func mostMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kilobytes, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "kB")), 10, 64)
	return kilobytes << 10
}
