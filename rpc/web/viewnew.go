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
}

func newModel(ctx context.Context, v viewer, _ url.Values) (any, error) {
	f := &form{Tip: get[chainInfo](ctx, v, nil, "getblockchaininfo"), Checks: v.Has("getdescriptorinfo")}
	for _, i := range indexes(ctx, v) {
		if i.Name == filterIndex {
			f.Filters = &i
		}
	}
	return f, nil
}
