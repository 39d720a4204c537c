package discovery

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/discover"
	"github.com/seed61375155/trawl/messages"
)

// A job is a discovery with the scanner's slot.
type job struct {
	*Config
	search *discover.Search
	slot   uint64
	reader chainview.Reader
	stop   *chainview.Block // last block

	show     func(messages.DiscoveryStatus) error // ends with the job
	status   messages.DiscoveryStatus
	reported time.Time
}

// reportEvery is how often a job says how far its stage is.
const reportEvery = 250 * time.Millisecond

// discover looks for the accounts of a request, and reports whether it has seen private keys. The function show shows
// how far that is.
func (cfg *Config) discover(
	j *ask.Job, q *messages.DiscoverAccounts, show func(messages.DiscoveryStatus) error,
) (found messages.Discovery, keys bool, err error) {
	search, err := discover.New(cfg.Network, q, cfg.Limit)
	q.Source.Wipe()
	q.Passphrase.Wipe()
	if err != nil {
		return found, true, err
	}
	keys = search.HasPrivateKeys()
	defer search.Wipe()
	w := &job{Config: cfg, search: search, show: show, reported: time.Now()}
	w.status.Running, w.status.Stage = true, messages.ScanDeriving
	if w.reader = cfg.Chain.Open(); w.reader == nil {
		return found, keys, chainview.ErrNotReady
	}
	w.stop = w.reader.Active().Tip()
	book, err := w.work(j)
	if err != nil && !errors.Is(err, errAborted) {
		return found, keys, err
	}
	if err != nil {
		book = nil
	}
	found = search.Result(book, q.Private)
	found.To, found.Stop = w.stop.Height, w.stop.Hash
	if found.Completed = err == nil; !found.Completed {
		found.Chains = nil
		return found, keys, nil
	}
	found.Scripts = search.Scope()
	for _, b := range w.blocks() {
		found.Blocks = append(found.Blocks, b.Hash)
	}
	return found, keys, nil
}

// work does the job with the scanner's slot. It returns what the accounts received and spent.
func (w *job) work(j *ask.Job) (book *discover.Book, err error) {
	slot, err := ask.Await(j, w.Scanner, messages.ReserveScan{})
	if err != nil {
		return nil, err
	}
	w.slot = slot.ID
	defer func() {
		// Without the slot no scan could ever start again: this does not end with the job.
		uncut := context.WithoutCancel(j.Context())
		_, _ = ask.Wait(uncut, w.Scanner, messages.AbortScan{Slot: slot.ID})
		_, _ = ask.Wait(uncut, w.Scanner, messages.ReleaseScan{Slot: slot.ID, Completed: err == nil})
	}()
	err = j.UntilClosed(slot.Aborted, errAborted, func(j *ask.Job) (err error) {
		if err = w.passes(j); err == nil {
			book, err = w.read(j)
		}
		return ended(j, err)
	})
	return book, err
}

// ended returns why a job has ended, which its work may not have noticed as such; nil: it has not.
func ended(j *ask.Job, err error) error {
	if cause := context.Cause(j.Context()); cause != nil {
		return cause
	}
	return err
}

// passes looks at all blocks until no account and no address is left to look for.
func (w *job) passes(j *ask.Job) error {
	aborted := func() error { return context.Cause(j.Context()) }
	for {
		spans, err := w.search.Next(aborted)
		if err != nil || len(spans) == 0 {
			return err
		}
		if err := w.derive(j, spans); err != nil {
			return err
		}
		if err := w.enter(j, messages.ScanMatching); err != nil {
			return err
		}
		query := w.search.Query()
		result, err := ask.Await(j, w.Scanner, messages.RunScan{
			Slot: w.slot, Set: query, Start: 0, Stop: w.stop.Hash, CheckBlocks: true, Uses: true, Hold: true,
		})
		if err == nil && !result.Completed {
			err = errAborted
		}
		if err != nil {
			return err
		}
		if err := w.search.Take(query, result.Blocks, result.Uses, aborted); err != nil {
			return err
		}
	}
}

// derive derives the scripts of a pass, on all cores.
func (w *job) derive(j *ask.Job, spans []discover.Span) error {
	if err := w.enter(j, messages.ScanDeriving); err != nil {
		return err
	}
	total, done := 0, 0
	for _, span := range spans {
		total += int(span.To-span.From) + 1
	}
	for _, span := range spans {
		err := span.ExpandRange(j.Context(), span.From, span.To, cores.Count(),
			func(index uint32, scripts [][]byte) error {
				w.search.Add(span.Chain, index, scripts)
				done++
				return w.report(j, done, total)
			})
		if errors.Is(err, descriptor.ErrNeedsPrivateKey) {
			return &messages.DiscoverySourceError{Text: "Private keys are needed to derive the addresses"}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter begins a stage.
func (w *job) enter(j *ask.Job, stage messages.ScanStage) error {
	w.status.Stage, w.status.Progress, w.status.Height = stage, 0, 0
	w.status.Pass, w.status.Accounts, w.status.Scripts = w.search.Passes(), w.search.Used(), w.search.Scripts()
	return w.tell(j)
}

// report says how much of a stage is done, every now and then.
func (w *job) report(j *ask.Job, done, total int) error {
	if time.Since(w.reported) < reportEvery {
		return nil
	}
	w.status.Progress, w.status.Scripts = min(100*done/total, 99), w.search.Scripts()
	return w.tell(j)
}

// tell tells the actor how far the job is, and the scanner, which shows the slot.
func (w *job) tell(j *ask.Job) error {
	w.reported = time.Now()
	if err := w.show(w.status); err != nil {
		return err
	}
	_, err := ask.Await(j, w.Scanner, messages.ReportScan{Slot: w.slot, Progress: w.status.Progress})
	return err
}

// blocks returns the blocks found, by height.
func (w *job) blocks() (list []*chainview.Block) {
	for _, hash := range w.search.Blocks() {
		if b := w.reader.Lookup(&hash); b != nil {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b *chainview.Block) int { return int(a.Height - b.Height) })
	return list
}
