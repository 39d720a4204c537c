package wallets

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

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
func (w *Wallets) start(c actor.Context) {
	if w.begun {
		names := w.names
		w.names = nil
		w.loadAll(c, names, w.tellNotLoaded)
		return
	}
	w.begun = true
	w.work(c, func(*ask.Job) func() {
		walletdb.RemoveStale(w.cfg.Dir)
		var names []string
		if !w.cfg.NoStartup {
			names = w.toLoad()
		}
		return func() { w.loadAll(c, names, w.refuseStart) }
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
	w.tellNotLoaded(name, err)
	if w.notStarted == nil {
		w.notStarted = messages.StartError(strings.TrimSuffix(text, "\n"))
	}
}

func (w *Wallets) tellNotLoaded(name string, err error) {
	w.cfg.Log.Error("wallet not loaded", "wallet", name, "err", err)
}

// loadAll loads wallets. failed is told of each that cannot be.
func (w *Wallets) loadAll(c actor.Context, names []string, failed func(name string, err error)) {
	w.starting = len(names)
	for _, name := range names {
		h := newHome(&w.cfg, name)
		h.mayLag = true
		w.enqueue(c, &load{home: h, tell: func(got messages.WalletLoaded, err error) {
			for _, text := range got.Warnings {
				w.cfg.Log.Warn("wallet loaded with a warning", "wallet", name, "warning", text)
			}
			if err != nil {
				failed(name, err)
			}
			w.starting--
			w.answerWaiting()
		}})
	}
	w.answerWaiting()
}

// answerWaiting answers the requests that wait for the start, when it is over.
func (w *Wallets) answerWaiting() {
	if w.starting != 0 {
		return
	}
	for _, m := range w.waiting {
		m.Answer(messages.Done{}, w.notStarted)
	}
	w.waiting = nil
}
