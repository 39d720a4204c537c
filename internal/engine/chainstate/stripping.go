package chainstate

import (
	"errors"
	"log/slog"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// This file removes the witnesses of old blocks of a chain from the disk.
//
// A block file is rewritten as a whole when all its blocks are deep enough, the lowest number first, one file
// at a time (qbit's witness compaction, node/blockstorage.cpp). Header, transactions but for their witnesses,
// undo data and all that is known of a block stay. Other code refuses requests that need witnesses of such a
// block.

// A StripConfig says which blocks lose their witnesses.
type StripConfig struct {
	Depth int32 // how far below the tip all blocks of a file have to be
}

// strippedStore has the files that are rewritten: a [chaindb.DB].
type strippedStore interface {
	FilesAbove(number int, visit func(chaindb.BlockFile) bool)
	Strip(number int, how chaindb.Stripper) error
	Reloading() bool
}

// strippedChain is what is stripped.
type strippedChain struct {
	DB   strippedStore
	Tree *chainview.Tree
	Log  *slog.Logger

	// Strip appends a block without its witnesses to dst.
	Strip func(dst, raw []byte) ([]byte, error)
}

// A stripper strips one chain. It has one user at a time, the chain's engine.
type stripper struct {
	chain  strippedChain
	config *StripConfig // nil: blocks stay whole

	wanted bool // to look for a file
	upTo   int  // number of the file up to which nothing is left to do
}

// newStripper returns a stripper that is to look for a file. Without a config no block is stripped.
func newStripper(chain strippedChain, config *StripConfig) *stripper {
	return &stripper{chain: chain, config: config, wanted: true, upTo: -1}
}

// Want has the next Step look for a file: the tip has moved.
func (s *stripper) Want() { s.wanted = true }

// Step rewrites a file, if that was wanted and one is eligible, and reports whether it did. A failure before
// the file is replaced is logged, and the file is tried again after the next Want. The error is a
// [*messages.FatalError].
func (s *stripper) Step() (done bool, err error) {
	if s.config == nil || !s.wanted || s.chain.DB.Reloading() || s.chain.Tree.Assumed() != nil {
		return false, nil
	}
	s.wanted = false
	number, ok := s.choose()
	if !ok {
		return false, nil
	}
	err = s.chain.DB.Strip(number, chaindb.Stripper{Strip: s.chain.Strip, Before: s.mark})
	switch {
	case errors.Is(err, chaindb.ErrHandOver), errors.Is(err, chaindb.ErrFailed):
		return false, &messages.FatalError{
			Summary: "Witness compaction handoff failed. Will retry on restart.", Err: err,
		}
	case err != nil:
		s.chain.Log.Error("witnesses were not removed from a block file", "file", number, "err", err)
		return false, nil
	}
	corelog.Printf(s.chain.Log.With("category", "prune"), slog.LevelDebug,
		"Witness compaction: removed the witnesses from block file %05d", number)
	return true, nil
}

// All rewrites every file that is eligible now.
func (s *stripper) All() error {
	for {
		s.Want()
		if done, err := s.Step(); err != nil || !done {
			return err
		}
	}
}

// choose returns the lowest file with a block that has witnesses and with none that is too near to the tip.
// Files directly above the mark in which nothing is left to do move it.
func (s *stripper) choose() (number int, ok bool) {
	tip := s.chain.Tree.Active().Height()
	if tip < s.config.Depth {
		return 0, false
	}
	cutoff, inRow := tip-s.config.Depth, true
	s.chain.DB.FilesAbove(s.upTo, func(f chaindb.BlockFile) bool {
		switch s.look(f.Blocks, cutoff) {
		case eligible:
			number, ok = f.Number, true
		case finished:
			if inRow {
				s.upTo = f.Number
			}
		default:
			inRow = false
		}
		return !ok
	})
	return number, ok
}

// verdict says whether a file is to be rewritten.
type verdict int

const (
	tooNew   verdict = iota // a block is too near to the tip
	finished                // all blocks are stripped
	eligible
)

func (s *stripper) look(blocks []chainhash.Hash, cutoff int32) verdict {
	of := finished
	for i := range blocks {
		b := s.chain.Tree.Lookup(&blocks[i])
		switch {
		case b == nil || b.Height > cutoff:
			return tooNew
		case b.Status()&chainview.Stripped == 0:
			of = eligible
		}
	}
	return of
}

// mark has readers know that blocks have lost their witnesses, before they have.
func (s *stripper) mark(hashes []chainhash.Hash) {
	for i := range hashes {
		if b := s.chain.Tree.Lookup(&hashes[i]); b != nil {
			s.chain.Tree.SetStatus(b, b.Status()|chainview.Stripped)
		}
	}
}
