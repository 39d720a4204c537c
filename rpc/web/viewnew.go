package web

import (
	"context"
	"net/url"
)

// A form is what the page of a new search knows beforehand.
type form struct {
	Tip     *chainInfo
	Filters *index // nil: there is no index of filters, or it is not for the viewer
	Checks  bool   // descriptors can be checked
	Gap     int    // that is suggested for wildcards
}

// defaultGap is the gap that is suggested: it costs a second over the main chain, and few wallets leave more addresses
// unused.
const defaultGap = 1000

func newModel(ctx context.Context, v viewer, _ url.Values) (any, error) {
	f := &form{
		Tip: get[chainInfo](ctx, v, nil, "getblockchaininfo"), Checks: v.Has("getdescriptorinfo"), Gap: defaultGap,
	}
	for _, i := range indexes(ctx, v) {
		if i.Name == filterIndex {
			f.Filters = &i
		}
	}
	return f, nil
}
