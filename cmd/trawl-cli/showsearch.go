package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	api "github.com/seed61375155/trawl/rpc/client"
)

// showSearch shows how far a search is, for people. It fails where the search has failed.
func (c *client) showSearch(words []string) (*jsontree.Value, error) {
	if len(words) != 1 {
		return nil, failf("-getsearch takes the name or the id of a search")
	}
	// This waits for the node, where -rpcwait is given, and refuses a search that is none.
	if _, err := c.result("getsearch", jsontree.NewArray(jsontree.NewString(words[0]))); err != nil {
		return nil, err
	}
	s, err := c.api().GetSearch(context.Background(), words[0])
	if err != nil {
		return nil, err
	}
	page := searchPage(&s)
	if s.State == api.Failed {
		return nil, failf("%s", page)
	}
	return jsontree.NewString(page), nil
}

// searchPage is the page of a search.
func searchPage(s *api.Search) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Search %s", s.Name)
	if s.Name != s.ID {
		fmt.Fprintf(&b, " (%s)", s.ID)
	}
	fmt.Fprintf(&b, "\nState:    %s", s.State)
	if s.Error != "" {
		fmt.Fprintf(&b, ": %s", s.Error)
	}
	fmt.Fprintf(&b, "\nProgress: %s  height %d", percentBar(int(s.Progress)), s.Height)
	if s.ETA > 0 {
		fmt.Fprintf(&b, ", %v left", time.Duration(s.ETA)*time.Second)
	}
	fmt.Fprintf(&b, "\nLooks for %d scripts from height %d on", s.Scripts, s.Start)
	if s.Stop != nil {
		fmt.Fprintf(&b, " up to %d", *s.Stop)
	}
	fmt.Fprintf(&b, "\nFound:    %d entries in %d blocks", s.Found, s.Blocks)
	for _, d := range s.Descriptors {
		if d.Gap > 0 {
			fmt.Fprintf(&b, "\n%s: indices %d to %d, with a gap of %d", d.Desc, d.Range[0], d.Range[1], d.Gap)
		}
		if d.Exhausted && d.Gap > 0 {
			fmt.Fprintf(&b, "\nThe range of %s ends at %d, before its gap of %d does: there may be more behind it",
				d.Desc, d.Range[1], d.Gap)
		} else if d.Exhausted && d.HighestUsed != nil {
			fmt.Fprintf(&b, "\nThe range of %s is used up to %d of %d: there may be more behind it (extendsearch)",
				d.Desc, *d.HighestUsed, d.Range[1])
		}
	}
	return b.String()
}
