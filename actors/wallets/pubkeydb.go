package wallets

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

func (w *Wallet) exportPubKeys(messages.ExportPubKeys) ([]messages.PubKey, error) {
	return w.ledger.PubKeys().Export(), nil
}

func (w *Wallet) nextPubKey(q messages.NextPubKey) (messages.PubKeyAddress, error) {
	return w.ledger.PubKeys().Next(q)
}

func (w *Wallet) listPubKeyPools(messages.ListPubKeyPools) ([]messages.PubKeyPool, error) {
	return w.ledger.PubKeys().Pools(), nil
}

// importPubKeys adds public keys and looks for what concerns them.
func (w *Wallet) importPubKeys(c actor.Context, m *ask.Call[messages.ImportPubKeys, int]) {
	err := w.ledger.PubKeys().CheckImport()
	if err == nil {
		err = w.mayRescan()
	}
	if err != nil {
		m.Answer(0, err)
		return
	}
	s := w.beginScan(c)
	answerScan(s, m, func(j *ask.Job) (int, error) { return s.importPubKeys(j, m.Req) })
}

func (s *scan) importPubKeys(j *ask.Job, q messages.ImportPubKeys) (int, error) {
	var got keys.PubKeysImported
	err := s.w.try(j, func() (err error) {
		tip := s.w.at(s.w.cfg.Chain.Open())
		got, err = s.w.ledger.PubKeys().Import(q, tip.MedianTimePast())
		return err
	})
	if err != nil || !got.Rescan {
		return got.Changed, err
	}
	failed, err := s.lookFrom(j, got.From)
	if err == nil && failed != nil {
		err = notScannedFor(got, blockRef(failed))
	}
	return got.Changed, err
}

// notScannedFor is the answer when a block that may concern imported keys could
// not be read; nil if the unread blocks are older than the keys.
func notScannedFor(got keys.PubKeysImported, failed txs.BlockRef) error {
	read := failed.MaxTime + timestampWindow + 1
	if read <= got.From {
		return nil
	}
	return codes.Errorf(codes.Misc, "Rescan failed for imported pubkeys with timestamp %d. There "+
		"was an error reading a block from time %d, which is after or within %d seconds "+
		"of key creation, and could contain transactions pertaining to the imported pubkeys. As a "+
		"result, related transactions and coins may not appear in the wallet."+
		" This error could potentially caused by data corruption. If "+
		"the issue persists you may want to reindex (see -reindex option).", got.From, read-timestampWindow-1,
		timestampWindow)
}
