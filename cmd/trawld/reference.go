package main

import (
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/options/table"
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

// speaks32 reports whether a node speaks as Bitcoin Core 32, as far as its options say so: what is beside it may be of
// another version.
func speaks32(o *options.Settings) bool {
	return o.Dialect() != dialectQbit && o.String("core", table.DefaultCore) == "32"
}
