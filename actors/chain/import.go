package chain

import (
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/messages"
)

const (
	// importStepTime is how long a piece of an import runs before requests are
	// served again. A single block may take longer.
	importStepTime = 50 * time.Millisecond

	// importSyncEvery is how often an import syncs its blocks to the disk.
	// Later blocks are read from the file again if the power fails.
	importSyncEvery = 5 * time.Second

	// maxOrphans bounds the positions remembered of blocks that come before
	// their parents, at most 100 bytes each. More are skipped, with a warning.
	maxOrphans = 1 << 20
)

// importer reads blocks piece by piece. It is used by the worker alone, while
// an import step runs.
type importer struct {
	sources  []source // the first one is being read
	log      *slog.Logger
	opened   bool                       // the first source
	prefetch *cores.Prefetch[readBlock] // reads the first source; nil: it is not open

	// Blocks whose parents have not been seen yet, by the parent.
	orphans map[chainhash.Hash][]position
	held    int  // positions in orphans
	lost    bool // maxOrphans was passed

	found       int   // blocks of the first source
	done, total int64 // bytes of the sources that were read, and of all
	blocks      int64 // accepted
	words       corelog.Progress
	synced      time.Time
}

func newImporter(log *slog.Logger) *importer {
	return &importer{log: log, synced: time.Now()}
}

func (i *importer) add(s source) {
	i.sources = append(i.sources, s)
	i.total += s.size()
}

// addFirst puts a source before the others.
func (i *importer) addFirst(s source) {
	i.add(s)
	last := len(i.sources) - 1
	copy(i.sources[1:], i.sources[:last])
	i.sources[0] = s
}

func (i *importer) status() messages.ImportStatus {
	s := messages.ImportStatus{Read: i.done, Total: i.total, Blocks: i.blocks}
	if len(i.sources) > 0 {
		s.Running, s.File = true, i.sources[0].name()
		s.Read += i.sources[0].offset()
	}
	return s
}

// importStep is the job that reads the next blocks.
func (s *Chain) importStep(e engine.Engine) (func(), error) {
	err := s.importer.step(e, s.ctx.Done())
	status := s.importer.status()
	return func() {
		s.status = status
		if !status.Running {
			s.imported(err)
		}
	}, err
}

// imported answers those who waited for the end of the import.
func (s *Chain) imported(err error) {
	s.cfg.Current.SetImporting(false)
	s.printf("initload thread exit")
	for _, call := range s.waiting {
		call.Answer(messages.Done{}, err)
	}
	s.waiting = nil
}

func (s *Chain) importStatus(messages.GetImportStatus) (messages.ImportStatus, error) {
	return s.status, nil
}

func (s *Chain) waitImported(_ actor.Context, m *ask.Call[messages.WaitImported, messages.Done]) {
	if s.engine != nil && !s.status.Running {
		m.Answer(messages.Done{}, nil)
		return
	}
	s.waiting = append(s.waiting, m)
}

// step reads blocks for importStepTime. The error is of the engine; a file
// that cannot be read is logged and passed over, as Core does.
func (i *importer) step(e engine.Engine, stop <-chan struct{}) error {
	began := time.Now()
	for len(i.sources) > 0 && time.Since(began) < importStepTime {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := i.next(e, stop); err != nil {
			return err
		}
	}
	i.progress(e)
	if len(i.sources) == 0 || time.Since(i.synced) > importSyncEvery {
		i.synced = time.Now()
		return e.Sync()
	}
	return nil
}

// progress logs every 30 seconds how far the import has come.
func (i *importer) progress(e engine.Engine) {
	if len(i.sources) == 0 {
		return
	}
	status := i.status()
	share := float64(status.Read) / float64(max(status.Total, 1))
	words := i.words.Words(time.Now(), status.Blocks, share, "blocks")
	if words == "" {
		return
	}
	what := "Importing"
	if i.sources[0].isEngine() {
		what = "Reindexing"
	}
	corelog.Printf(i.log, slog.LevelInfo, "%s blocks: file %s, height %d, %s",
		what, status.File, e.Reader().Active().Height(), words)
}

// next takes the next block of the present source, or opens it. It returns early when
// stop is closed.
func (i *importer) next(e engine.Engine, stop <-chan struct{}) error {
	src := i.sources[0]
	if !i.opened {
		i.opened = true
		if err := src.open(); err != nil {
			i.log.Warn("Could not open blocks file", "file", src.name(), "err", err)
			i.end()
			return nil
		}
		i.log.Info("Importing blocks file", "file", src.name(), "bytes", src.size())
		i.prefetch = prefetch(e, src)
		return nil
	}
	b, ok := i.prefetch.Take(stop)
	if !ok {
		return nil
	}
	err := b.err
	switch {
	case err == nil:
		i.found++
		at := position{b.File, b.Offset, len(b.Block)}
		src.took(at)
		return i.take(e, src, at, b)
	case errors.Is(err, io.EOF):
		if i.found == 0 && !src.isEngine() {
			i.log.Warn(
				"Blocks file has no blocks of this network: it is of another, empty, or compressed", "file", src.name(),
			)
		}
		i.log.Info("Loaded blocks from external file", "file", src.name(), "blocks", i.blocks)
		if err = src.done(); err == nil && src.isEngine() {
			corelog.Printf(i.log, slog.LevelInfo, "Reindexing finished")
		}
	default:
		i.log.Warn("Could not read blocks file", "file", src.name(), "err", err)
	}
	i.end()
	if src.isEngine() {
		return err
	}
	return nil
}

// take gives a block to the engine, and then the blocks that waited for their
// parent.
func (i *importer) take(e engine.Engine, src source, at position, b readBlock) error {
	if err := i.accept(e, at, b.Block, b.accept); err != nil {
		return err
	}
	waiting := i.adopt(e, b.Block)
	for len(waiting) > 0 {
		last := len(waiting) - 1
		at, waiting = waiting[last], waiting[:last]
		raw, err := src.read(at)
		if err != nil {
			i.log.Warn("Could not read blocks file", "file", src.name(), "err", err)
			continue
		}
		i.reindexf("LoadExternalBlockFile: Processing out of order child %v of %v", hashOf(raw), parentOf(raw))
		if err := i.accept(e, at, raw, e.Prepare(raw)); err != nil {
			return err
		}
		waiting = append(waiting, i.adopt(e, raw)...)
	}
	return nil
}

// accept gives one block to the engine, or remembers it for later.
func (i *importer) accept(e engine.Engine, at position, raw []byte, accept func() error) error {
	parent := parentOf(raw)
	isGenesis := parent == (chainhash.Hash{})
	if !isGenesis && e.Reader().Lookup(&parent) == nil {
		i.reindexf("LoadExternalBlockFile: Out of order block %v, parent %v not known", hashOf(raw), parent)
		i.remember(parent, at)
		return nil
	}
	err := accept()
	var reject *messages.RejectError
	switch {
	case err == nil:
		i.blocks++
	case !errors.As(err, &reject):
		return err
	case reject.Reason != "duplicate" && !isGenesis:
		i.log.Warn("Block from file refused", "block", hashOf(raw), "reason", reject)
	}
	return nil
}

func (i *importer) reindexf(format string, args ...any) {
	corelog.Printf(i.log.With("category", "reindex"), slog.LevelDebug, format, args...)
}

// A Scanner returns nothing shorter than a header.
func parentOf(raw []byte) chainhash.Hash { return chainhash.Hash(raw[4:36]) }

func hashOf(raw []byte) chainhash.Hash {
	return chainhash.DoubleHashH(raw[:wire.MaxBlockHeaderPayload])
}

// remember keeps the place of a block whose parent is not there yet.
func (i *importer) remember(parent chainhash.Hash, at position) {
	if i.held >= maxOrphans {
		if !i.lost {
			i.lost = true
			i.log.Warn("Too many blocks before their parents, skipping", "limit", maxOrphans)
		}
		return
	}
	if i.orphans == nil {
		i.orphans = make(map[chainhash.Hash][]position)
	}
	i.orphans[parent] = append(i.orphans[parent], at)
	i.held++
}

// adopt returns the places of the blocks that waited for this parent, and
// forgets them. It returns none if the engine does not know the parent.
func (i *importer) adopt(e engine.Engine, raw []byte) []position {
	if len(i.orphans) == 0 {
		return nil
	}
	hash := hashOf(raw)
	waiting := i.orphans[hash]
	if waiting == nil || e.Reader().Lookup(&hash) == nil {
		return nil
	}
	delete(i.orphans, hash)
	i.held -= len(waiting)
	return waiting
}

// end leaves the present source. Blocks that still wait for their parents are
// given up: their places mean nothing in another source.
func (i *importer) end() {
	i.found = 0
	src := i.sources[0]
	if i.held > 0 {
		i.log.Warn("Blocks without known parents were left out", "file", src.name(), "blocks", i.held)
	}
	i.done += src.size()
	i.stopReading()
	src.close()
	i.sources = i.sources[1:]
	i.opened, i.orphans, i.held, i.lost = false, nil, 0, false
}

// stopReading ends the reading ahead, which uses the source.
func (i *importer) stopReading() {
	if i.prefetch != nil {
		i.prefetch.Close()
		i.prefetch = nil
	}
}

// close leaves everything as it is.
func (i *importer) close() {
	i.stopReading()
	if i.opened && len(i.sources) > 0 {
		i.sources[0].close()
	}
}
