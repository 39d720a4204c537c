package main

import (
	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

// blockCreationConfig reads the options about the blocks that the node makes.
func blockCreationConfig(o *options.Settings) (trawl.BlockCreationConfig, error) {
	c := trawl.BlockCreationConfig{
		MaxWeight: number(o, "blockmaxweight"), ReservedWeight: number(o, "blockreservedweight"),
		AuxExpiry: number(o, "auxpowtemplateexpiry"), AuxLimit: number(o, "auxpowtemplatecachelimit"),
		PrintPriority: o.Bool("printpriority", false),
	}
	var err error
	if c.MinTxFee, err = feeOption(o, "blockmintxfee"); err != nil {
		return c, err
	}
	if version := number(o, "blockversion"); version != nil && o.Chain() == options.Regtest {
		c.Version = new(int32(*version)) // Core drops the upper half too
	}
	return c, nil
}

// number reads an option that is a number, nil where it is not given.
func number(o *options.Settings, name string) *int64 {
	if !o.IsSet(name) {
		return nil
	}
	return new(o.Int(name, 0))
}
