package descriptor

import (
	"context"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Scripts are the output scripts of a descriptor. Made by [ScriptSet], they do not change
// any more.
type Scripts struct {
	list  [][]byte
	index map[string]uint32
}

// A Payment is an output of a block that pays to a script of a descriptor.
type Payment struct {
	Tx     *wire.MsgTx
	TxID   chainhash.Hash
	Output uint32 // its place among the outputs of the transaction
	Amount int64  // in the smallest unit
	Script []byte
	Index  uint32 // of the descriptor; the lowest where several have the script
}

// ScriptSet expands a descriptor, all its branches, at the indexes from first to last,
// both included; where it is not ranged, once. Memory and time grow with the range, which
// has a million indexes at most. It derives on one core; [Descriptor.ExpandRange] can do
// that on several.
//
// Errors: [*ParseError], and those of [Descriptor.ExpandRange].
func ScriptSet(ctx context.Context, text string, net *Network, first, last uint32) (*Scripts, error) {
	branches, err := Parse(text, net, Options{})
	if err != nil {
		return nil, err
	}
	s := &Scripts{index: make(map[string]uint32)}
	for _, branch := range branches {
		err := branch.ExpandRange(ctx, first, last, 1, func(index uint32, scripts [][]byte) error {
			for _, script := range scripts {
				s.add(script, index)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Scripts) add(script []byte, index uint32) {
	lowest, known := s.index[string(script)]
	if !known {
		s.list = append(s.list, script)
	}
	if !known || index < lowest {
		s.index[string(script)] = index
	}
}

// List returns the scripts, each once: what a scan asks for. The scripts are not to be
// written to.
func (s *Scripts) List() [][]byte { return slices.Clone(s.list) }

// Index returns the index of the descriptor at which it has a script.
func (s *Scripts) Index(script []byte) (index uint32, ok bool) {
	index, ok = s.index[string(script)]
	return index, ok
}

// Outputs returns the outputs of a block that pay to the scripts, in their order. They
// share the block's memory.
func (s *Scripts) Outputs(block *wire.MsgBlock) []Payment {
	var paid []Payment
	for _, tx := range block.Transactions {
		var id *chainhash.Hash
		for i, out := range tx.TxOut {
			index, ok := s.index[string(out.PkScript)]
			if !ok {
				continue
			}
			if id == nil {
				hash := tx.TxHash()
				id = &hash
			}
			paid = append(paid, Payment{tx, *id, uint32(i), out.Value, out.PkScript, index})
		}
	}
	return paid
}
