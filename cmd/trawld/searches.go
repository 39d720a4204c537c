package main

import (
	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

// searchesConfig reads the limits of searches.
func searchesConfig(o *options.Settings) trawl.SearchesConfig {
	return trawl.SearchesConfig{
		Searches: int(o.Int("maxsearches", 0)), Scripts: int(o.Int("searchscripts", 0)),
		Entries: o.Int("searchentries", 0), Quota: int(o.Int("searchquota", 0)),
		LeastRoom: o.Int("searchroom", 0) << 20,
	}
}
