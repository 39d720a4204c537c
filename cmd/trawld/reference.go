package main

import (
	"cmp"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/options"
)

// reference reads -core, the version of Bitcoin Core to speak as; 0 where it is not chosen.
func reference(o *options.Settings) (int, error) {
	if !o.IsSet("core") {
		return 0, nil
	}
	if o.Dialect() == dialectQbit {
		return 0, refuse("-core is for the networks of Bitcoin: a node of the dialect qbit speaks as qbit does.")
	}
	switch text := o.String("core", ""); text {
	case "30":
		return 30, nil
	case "32":
		return 32, nil
	default:
		return 0, refuse("Invalid value for -core: '%s'. It is 30 or 32.", text)
	}
}

// spoken is the version of Bitcoin Core whose options count. -core names it, even where the node is attached.
func spoken(o *options.Settings) int {
	if o.Dialect() == dialectQbit {
		return dialect.Core30
	}
	chosen, _ := reference(o) // what is wrong with it is told where the node begins
	return cmp.Or(chosen, dialect.DefaultReference)
}

// laterCore reports whether that version is 32 or later.
func laterCore(o *options.Settings) bool { return spoken(o) >= dialect.Core32 }
