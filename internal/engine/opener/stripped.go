package opener

import (
	"errors"
	"fmt"

	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/engine/qbit"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// strips says how old blocks lose their witnesses; nil: they do not.
func (o *Factory) strips() *chainstate.StripConfig {
	if !o.cfg.Strip || o.cfg.Network.StripDepth == 0 {
		return nil
	}
	return &chainstate.StripConfig{Depth: o.cfg.Network.StripDepth}
}

// rebuilds reports whether everything is to be rebuilt from the block files.
func (o *Factory) rebuilds() bool {
	return !o.opened && (o.cfg.Reindex || o.cfg.ReindexState && !o.keepsIndex())
}

// keepsIndex reports whether the chain state is to be rebuilt while the block index stays. The index
// cannot be read from the files where blocks may have lost their witnesses.
func (o *Factory) keepsIndex() bool {
	return o.cfg.ReindexState && !o.cfg.Reindex && o.cfg.Network.StripDepth > 0
}

// needsWitnesses returns the option of an index that needs the witnesses of all blocks, empty: there is none.
func (c *Config) needsWitnesses() string {
	switch {
	case c.TxIndex:
		return "-txindex"
	case c.TxoSpenderIndex:
		return "-txospenderindex"
	}
	return ""
}

func errStrippedUnder(option string) error {
	return messages.StartError("Cannot use " + option + " on a node that has pruned witness data. Delete " +
		"the data directory and perform a fresh archive sync, or restart without " + option + ".")
}

const errStripped = messages.StartError("Cannot use -reindex on a node that has pruned witness data. " +
	"Witness-pruned block index flags would be lost, causing data corruption. Use -reindex-chainstate instead, or " +
	"delete the data directory and perform a fresh sync.")

// checkStripped refuses to rebuild everything where blocks have lost their witnesses.
func (o *Factory) checkStripped(options chaindb.Options) error {
	if o.cfg.Network.StripDepth == 0 {
		return nil
	}
	switch stripped, err := chaindb.WasStripped(options); {
	case err != nil:
		return messages.StartError(fmt.Sprintf("Error reading block database while checking whether -reindex would "+
			"corrupt witness-pruned data: %v", err))
	case stripped:
		return errStripped
	}
	return nil
}

// checkCovered refuses to rebuild the chain state where blocks have lost witnesses that are needed for it, before
// anything is changed. A database that cannot be read is no error here: opening it mends it or fails.
func (o *Factory) checkCovered(options chaindb.Options) error {
	db, err := chaindb.OpenIndex(options)
	if err != nil {
		return nil //nolint:nilerr // it is looked at when it is opened
	}
	if db.HasStripped() {
		err = qbit.CheckCovered(o.state(db))
	}
	_, refused := errors.AsType[messages.StartError](err)
	if err = errors.Join(err, db.Close()); !refused {
		return nil
	}
	return err
}

// errWithSnapshot reports blocks without witnesses behind a snapshot.
const errWithSnapshot = messages.StartError("Cannot use -reindex-chainstate on a witness-pruned node whose chain " +
	"begins with a snapshot of unspent outputs. Start without it until the blocks before the snapshot are validated.")

// dropSnapshot rebuilds everything from the block files, since the chain begins with a snapshot.
func (o *Factory) dropSnapshot(options chaindb.Options) (engine.Engine, error) {
	switch stripped, err := chaindb.WasStripped(options); {
	case err != nil:
		return nil, err
	case stripped:
		return nil, errWithSnapshot
	}
	if err := o.dropMark(); err != nil {
		return nil, err
	}
	o.rebuilding = nil
	if err := chaindb.Rebuild(options); err != nil {
		return nil, err
	}
	return o.engine(options)
}
