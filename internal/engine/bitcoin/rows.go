package bitcoin

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus/target"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/store/chaindb"
)

// The buckets and items of the chain database, whose rows have the form that btcd
// gave them; store/schema.md has them all. Headers whose blocks are not there, or
// lack one before them, have a bucket of their own.
const (
	indexBucket   = "blockheaderidx"
	headersBucket = "trawl-headers"
	hashBucket    = "hashidx"
	heightBucket  = "heightidx"
	journalBucket = "spendjournal"
	coinsBucket   = "utxosetv2"

	stateKey          = "chainstate"
	coinsTipKey       = "utxostateconsistency"
	coinsVersionKey   = "utxosetversion"
	journalVersionKey = "spendjournalversion"

	coinsVersion   = 2
	journalVersion = 1
)

// The status flags of a row of the block index.
const (
	rowData = 1 << iota
	rowValid
	rowFailed
	rowFailedAncestor
)

var rowFlags = []struct {
	row    byte
	status chainview.Status
}{
	{rowData, chainview.HasData},
	{rowValid, chainview.Valid},
	{rowFailed, chainview.Failed},
	{rowFailedAncestor, chainview.FailedAncestor},
}

const indexRowSize = wire.MaxBlockHeaderPayload + 1

var errRow = fmt.Errorf("%w: malformed row", chaindb.ErrDamaged)

// indexKey is the height, big-endian, and the hash.
func indexKey(b *chainview.Block) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, 4+chainhash.HashSize), uint32(b.Height))
	return append(key, b.Hash[:]...)
}

// indexRow is the header and the status.
func indexRow(b *chainview.Block) []byte {
	row := bytes.NewBuffer(make([]byte, 0, indexRowSize))
	_ = b.Header.Serialize(row) // to memory
	flags, status := byte(0), b.Status()
	for _, f := range rowFlags {
		if status&f.status != 0 {
			flags |= f.row
		}
	}
	row.WriteByte(flags)
	return row.Bytes()
}

func parseIndexRow(row []byte) (*wire.BlockHeader, chainview.Status, error) {
	var header wire.BlockHeader
	if len(row) != indexRowSize || header.Deserialize(bytes.NewReader(row)) != nil {
		return nil, 0, errRow
	}
	var status chainview.Status
	for _, f := range rowFlags {
		if row[wire.MaxBlockHeaderPayload]&f.row != 0 {
			status |= f.status
		}
	}
	return &header, status, nil
}

// stateRow is the hash of the tip, its height, the number of transactions up to it
// and the work of its chain.
func (e *Engine) stateRow() []byte {
	work := e.tip.Work.Bytes()
	row := binary.LittleEndian.AppendUint32(bytes.Clone(e.tip.Hash[:]), uint32(e.tip.Height))
	row = binary.LittleEndian.AppendUint64(row, e.txs)
	return append(binary.LittleEndian.AppendUint32(row, uint32(len(work))), work...)
}

func heightRow(height int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(height)) }

// create makes what is missing of the database: all of it, with the genesis block, or
// the buckets that older programs did not have.
func (e *Engine) create() error {
	return e.db.BTCD().Update(func(tx database.Tx) error {
		meta := tx.Metadata()
		isNew := meta.Get([]byte(stateKey)) == nil
		for _, name := range []string{indexBucket, headersBucket, hashBucket, heightBucket, journalBucket, coinsBucket, unparsableName} {
			if _, err := meta.CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
		if !isNew {
			return nil
		}
		genesis := e.net.Params.GenesisBlock
		e.tree = chainview.NewTree(&genesis.Header, target.Work(genesis.Header.Bits))
		e.tip, e.txs = e.tree.Active().Tip(), 1
		for _, row := range []struct {
			bucket     string
			key, value []byte
		}{
			{"", []byte(coinsVersionKey), binary.LittleEndian.AppendUint32(nil, coinsVersion)},
			{"", []byte(journalVersionKey), binary.LittleEndian.AppendUint32(nil, journalVersion)},
			{"", []byte(stateKey), e.stateRow()},
			{"", []byte(coinsTipKey), e.tip.Hash[:]},
			{indexBucket, indexKey(e.tip), indexRow(e.tip)},
			{hashBucket, e.tip.Hash[:], heightRow(0)},
			{heightBucket, heightRow(0), e.tip.Hash[:]},
		} {
			bucket := meta
			if row.bucket != "" {
				bucket = meta.Bucket([]byte(row.bucket))
			}
			if err := bucket.Put(row.key, row.value); err != nil {
				return err
			}
		}
		has, err := tx.HasBlock(&e.tip.Hash)
		if err != nil || has {
			return err
		}
		return tx.StoreBlock(btcutil.NewBlock(genesis))
	})
}

// loadTree reads the block tree, and makes the stored tip that of the active chain.
func (e *Engine) loadTree() error {
	genesis := &e.net.Params.GenesisBlock.Header
	e.tree = chainview.NewTree(genesis, target.Work(genesis.Bits))
	root := e.tree.Active().Tip()
	e.choice = forkchoice.New(e.tree, root, e.mark)
	return e.db.BTCD().View(func(tx database.Tx) error {
		meta := tx.Metadata()
		err := meta.Bucket([]byte(indexBucket)).ForEach(func(_, row []byte) error {
			return e.loadRow(tx, row, false)
		})
		if err != nil {
			return err
		}
		err = meta.Bucket([]byte(headersBucket)).ForEach(func(_, row []byte) error {
			return e.loadRow(tx, row, true)
		})
		if err != nil {
			return err
		}
		return e.loadTip(meta.Get([]byte(stateKey)))
	})
}

// loadRow puts a block into the tree, after its parent. A bare header that lacks its
// parent, which a loss of power may cause, is left out: peers give it again.
func (e *Engine) loadRow(tx database.Tx, row []byte, bare bool) error {
	header, status, err := parseIndexRow(row)
	if err != nil {
		return err
	}
	hash := header.BlockHash()
	if hash == *e.net.Params.GenesisHash || bare && e.tree.Lookup(&header.PrevBlock) == nil {
		return nil
	}
	if bare && status&chainview.HasData != 0 {
		if has, err := tx.HasBlock(&hash); err != nil || !has {
			status &^= chainview.HasData
		}
	}
	b, err := e.tree.Add(header, target.Work(header.Bits), status)
	switch {
	case errors.Is(err, chainview.ErrOrphan):
		return fmt.Errorf("%w: block %v has no parent", chaindb.ErrDamaged, hash)
	case err != nil:
		return err
	}
	if e.choice.Load(b) && bare {
		e.pending.link(b, true)
	}
	return nil
}

func (e *Engine) loadTip(row []byte) error {
	const size = chainhash.HashSize + 4 + 8
	if len(row) < size {
		return errRow
	}
	hash := chainhash.Hash(row)
	if e.tip = e.tree.Lookup(&hash); e.tip == nil || !forkchoice.Linked(e.tip) {
		return fmt.Errorf("%w: tip %v is not among the blocks", chaindb.ErrDamaged, hash)
	}
	e.txs = binary.LittleEndian.Uint64(row[chainhash.HashSize+4:])
	e.choice.Loaded(e.tip)
	e.tree.SetActive(e.tip)
	return nil
}
