package wallets

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
	"github.com/seed61375155/trawl/store/walletdir"
)

// start loads wallets. At the start of the node it loads the wallets that the
// settings and the options name, after a failure of the registry the wallets
// that were loaded.
func (w *Wallets) start() {
	if w.begun {
		names := w.names
		w.names = nil
		w.loadAll(names, w.logNotLoaded)
		return
	}
	w.begun = true
	w.jobs.Add(w.c, func(j *ask.Job) {
		walletdb.RemoveStale(w.cfg.Dir)
		var names []string
		if !w.cfg.NoStartup {
			names = w.toLoad()
		}
		_ = j.Do(func() { w.loadAll(names, w.refuseStart) })
	})
}

// toLoad returns the names of the wallets to load at start. A wallet in the
// wallets directory itself is loaded if no other is named.
func (w *Wallets) toLoad() []string {
	var kept []string
	if !w.cfg.OnlyNamed {
		var err error
		if kept, err = w.settings.Wallets(); err != nil {
			w.cfg.Log.Error("settings not read", "err", err)
		}
	}
	var names []string
	for _, name := range slices.Concat(w.cfg.Load, kept) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		if _, err := os.Stat(walletdir.File(w.cfg.Dir)); err == nil {
			names = append(names, "")
			w.settings.LoadUnnamed()
		}
	}
	return names
}

// unrecognized is Core's text for a file, or a directory, that holds no wallet.
const unrecognized = "Data is not in recognized format."

// refuseStart notes that a wallet could not be loaded at start, which is an error
// of the start. As in Core there is only a warning if the path has nothing, or a
// file of the old format.
func (w *Wallets) refuseStart(name string, err error) {
	text := err.Error()
	if failure, ok := errors.AsType[*messages.WalletError](err); ok {
		text = strings.TrimPrefix(strings.TrimPrefix(failure.Text, "Wallet file verification failed. "), "Wallet loading failed. ")
		if failure.Code == codes.NotFound && !strings.HasSuffix(text, unrecognized) {
			if !strings.Contains(text, "appears to be a Legacy wallet") {
				text = "Skipping -wallet path that doesn't exist. " + text
			}
			corelog.Printf(w.cfg.Log, slog.LevelWarn, "%s", text)
			w.cfg.Warn(text)
			return
		}
	}
	w.logNotLoaded(name, err)
	if w.notStarted == nil {
		w.notStarted = messages.StartError(strings.TrimSuffix(text, "\n"))
	}
}

func (w *Wallets) logNotLoaded(name string, err error) {
	w.cfg.Log.Error("wallet not loaded", "wallet", name, "err", err)
}

// loadAll loads wallets. failed is called for each that cannot be loaded.
func (w *Wallets) loadAll(names []string, failed func(name string, err error)) {
	w.starting = len(names)
	for _, name := range names {
		l := &load{spec: w.spec(name)}
		l.spec.MayLag = true
		w.enqueue(l)
		w.jobs.Add(w.c, func(j *ask.Job) {
			got, err := l.wait(j)
			for _, text := range got.Warnings {
				w.cfg.Log.Warn("wallet loaded with a warning", "wallet", name, "warning", text)
			}
			_ = j.Do(func() {
				if err != nil {
					failed(name, err)
				}
				w.starting--
				w.endStart()
			})
		})
	}
	w.endStart()
}

// endStart has the requests answered that wait for the start, if it is over.
func (w *Wallets) endStart() {
	if w.starting == 0 {
		w.starting = -1
		close(w.started)
	}
}
