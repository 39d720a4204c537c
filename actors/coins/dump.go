package coins

import (
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/coinfile"
)

// coinDump writes the set into a file, and hashes it. One worker reads, for the order counts.
type coinDump struct {
	fs    vfs.FS
	path  string
	magic [4]byte

	set  messages.CoinSet
	tip  messages.Tip
	file *coinfile.Writer // nil: none was begun, or it is finished
	sum  *coinstats.Sum

	dumped messages.DumpedCoins
}

func (d *coinDump) prepare(set messages.CoinSet) (err error) {
	d.set, d.tip, d.sum = set, set.Tip(), coinstats.New(coinstats.Serial)
	d.file, err = coinfile.Create(d.fs, d.path, d.magic, &d.tip.Hash)
	return err
}

func (d *coinDump) reader() (visit func(*messages.SetCoin) error, done func()) {
	var coin coinstats.Coin
	visit = func(c *messages.SetCoin) (err error) {
		coin = coinstats.Coin{
			Out: c.Out, Height: c.Height, Coinbase: c.Coinbase, Amount: c.Amount, Script: coin.Script[:0],
		}
		if coin.Script, err = d.set.Unpack(coin.Script, c.Packed); err != nil {
			return err
		}
		d.sum.Add(&coin)
		return d.file.Add(&coin.Out, blockfile.Coin{
			Height: coin.Height, Coinbase: coin.Coinbase, Amount: coin.Amount, Script: coin.Script,
		})
	}
	return visit, func() {}
}

// complete finishes the file, or removes it where reading has failed.
func (d *coinDump) complete(failed error) error {
	file := d.file
	d.file = nil
	if failed != nil {
		return errors.Join(failed, file.Abort())
	}
	d.dumped = messages.DumpedCoins{Block: d.tip, Coins: file.Count(), Hash: d.sum.Hash()}
	return file.Finish()
}

// abandon removes the incomplete file, unless complete has closed it.
func (d *coinDump) abandon() {
	if d.file != nil {
		_ = d.file.Abort() // the next one writes over it
	}
}

// dump writes the set for a caller.
func (s *Coins) dump(c actor.Context, call *ask.Call[messages.DumpCoins, messages.DumpedCoins]) {
	d := &coinDump{fs: s.cfg.FS, path: call.Req.Path, magic: s.cfg.Magic}
	if d.fs == nil {
		d.fs = vfs.OS
	}
	pass := s.start(c, coinScanJob{
		readers: 1, at: call.Req.At, prepare: d.prepare, reader: d.reader,
		complete: d.complete, abandon: d.abandon,
		ended: func(err error) { call.Answer(d.dumped, known(err)) },
	})
	pass.endWith(call.Ctx)
}

// known turns errors of the file into those that callers know.
func known(err error) error {
	switch {
	case errors.Is(err, coinfile.ErrExists):
		return messages.ErrFileExists
	case errors.Is(err, coinfile.ErrCreate):
		return messages.ErrNotCreated
	}
	return err
}
