package trawl

import (
	"cmp"
	"fmt"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/store/datadir"
)

// CheckDirs reports whether [Open] would take Dir and BlocksDir of a Config as far as it concerns whose data they
// hold, and changes nothing. [Open] does the same before it writes; CheckDirs is for hosts that write files of their
// own there before. It refuses data of another program, as of Bitcoin Core, whose files have the same names, and
// data of another network or of a later revision. The error says which data was found and how to proceed.
func CheckDirs(cfg Config) error {
	net, err := cfg.network(cfg.Reference)
	if err != nil {
		return err
	}
	return datadir.Check(cfg.dirs(net))
}

func (c *Config) dirs(net *dialect.Network) (datadir.Dirs, datadir.Network) {
	return datadir.Dirs{Data: c.Dir, Blocks: c.BlocksDir}, datadir.Network{
		Name: fmt.Sprintf("%s (%s)", c.Chain, cmp.Or(c.Dialect, dialect.NameBitcoin)), Magic: net.Magic,
	}
}
