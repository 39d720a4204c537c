package rescan

import (
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
)

// ErrBackground says that blocks of before a snapshot are still to come.
var ErrBackground = codes.Errorf(codes.Misc, "Failed to rescan unavailable blocks likely due to an in-progress "+
	"assumeutxo background sync. Check logs or getchainstates RPC for assumeutxo background sync progress and try "+
	"again later.")

// Error is the answer to a rescan that could not read a block, nil for no block. away says that the node that has the
// block did not answer.
//
// Errors: [*messages.WalletError].
func Error(reader chainview.Reader, failed *chainview.Block, away bool) error {
	switch {
	case failed == nil:
		return nil
	case away:
		return codes.Errorf(codes.Misc, "Rescan failed. %s", messages.ErrNodeAway)
	case IsPruned(failed):
		return codes.Errorf(codes.Misc,
			"Can't rescan beyond pruned data. Use RPC call getblockchaininfo to determine your pruned height.")
	case IsBehind(reader, failed):
		return ErrBackground
	}
	return codes.Errorf(codes.Misc, "Rescan failed. Potentially corrupted data files.")
}

// LacksSome reports whether a range, up to the tip for nil, has blocks of before a snapshot that are
// still to come.
func LacksSome(reader chainview.Reader, start int32, stop *int32) bool {
	assumed := chainview.AssumedOf(reader)
	if assumed == nil {
		return false
	}
	last := assumed.Base.Height
	if stop != nil {
		last = min(last, *stop)
	}
	for b := assumed.Base.Ancestor(last); b != nil && b.Height >= start; b = b.Parent {
		if b.Status()&chainview.HasData == 0 {
			return true
		}
	}
	return false
}

// IsBehind reports whether a block is before a snapshot that the chain begins with, and is still to come.
func IsBehind(reader chainview.Reader, b *chainview.Block) bool {
	return chainview.AssumedOf(reader).Lacks(b, reader.Active())
}

// IsPruned reports whether a block was deleted to save space.
func IsPruned(b *chainview.Block) bool { return b.Status()&chainview.Pruned != 0 }

// NotScanned puts errors in the place of results whose blocks were not all read.
func NotScanned(
	reader chainview.Reader, daemon string, items []messages.ImportItem, results []messages.ImportResult,
	failed *chainview.Block, median int64,
) {
	why := " This error could potentially caused by data corruption. If " +
		"the issue persists you may want to reindex (see -reindex option)."
	if IsPruned(failed) {
		why = " This error could be caused by pruning or data corruption " +
			"(see " + daemon + " log for details) and could be dealt with by downloading and " +
			"rescanning the relevant blocks (see -reindex option and rescanblockchain RPC)."
	}
	if IsBehind(reader, failed) {
		why = " This error is likely caused by an in-progress assumeutxo background sync. Check logs or " +
			"getchainstates RPC for assumeutxo background sync progress and try again later."
	}
	read := BlockRef(failed).MaxTime + Window + 1
	for i, item := range items {
		at := item.Timestamp
		if at == messages.NowTimestamp {
			at = median
		}
		if read <= at || results[i].Err != nil {
			continue
		}
		results[i] = messages.ImportResult{Err: codes.Errorf(codes.Misc,
			"Rescan failed for descriptor with timestamp %d. There "+
				"was an error reading a block from time %d, which is after or within %d seconds "+
				"of key creation, and could contain transactions pertaining to the desc. As a "+
				"result, transactions and coins using this desc may not appear in the wallet.%s",
			at, read-Window-1, Window, why)}
	}
}

// NotScannedFor is the answer when a block that may concern imported keys could
// not be read; nil if the unread blocks are older than the keys.
func NotScannedFor(got keys.PubKeysImported, failed *chainview.Block) error {
	read := failed.MaxTime() + Window + 1
	if read <= got.From {
		return nil
	}
	return codes.Errorf(codes.Misc, "Rescan failed for imported pubkeys with timestamp %d. There "+
		"was an error reading a block from time %d, which is after or within %d seconds "+
		"of key creation, and could contain transactions pertaining to the imported pubkeys. As a "+
		"result, related transactions and coins may not appear in the wallet."+
		" This error could potentially caused by data corruption. If "+
		"the issue persists you may want to reindex (see -reindex option).", got.From, read-Window-1,
		Window)
}
