package web

import (
	"context"
	"net/url"
)

// A searchList is the data of the page with all searches.
type searchList struct {
	Searches *[]search // nil: there is no index for them
	More     int
	Failed   []string
}

// Seconds is after how long the page asks again without events.
func (l *searchList) Seconds() int {
	h := home{Searches: l.Searches}
	if len(h.Running()) > 0 {
		return 2
	}
	return 15
}

func (v *view) searchesModel(ctx context.Context, viewer viewer, _ url.Values) (any, error) {
	n := &noting{viewer: viewer}
	l := &searchList{Searches: get[[]search](ctx, n, nil, "listsearches")}
	v.sum(ctx, n, l.Searches)
	l.Failed = n.words()
	if l.Searches != nil {
		l.More = max(0, len(*l.Searches)-maxRows)
	}
	return l, nil
}

// A walletList is the data of the page with all wallets.
type walletList struct {
	Wallets  []wallet
	Unloaded []string
	Failed   []string
}

// Seconds is after how long the page asks again without events.
func (l *walletList) Seconds() int {
	h := home{Wallets: l.Wallets}
	if len(h.Rescans()) > 0 {
		return 2
	}
	return 15
}

func walletsModel(ctx context.Context, v viewer, _ url.Values) (any, error) {
	n := &noting{viewer: v}
	l := &walletList{}
	l.Wallets, l.Unloaded = wallets(ctx, n)
	l.Failed = n.words()
	return l, nil
}

// moreModel and findModel read nothing: the pages are the same at any time.
func moreModel(context.Context, viewer, url.Values) (any, error) { return nil, nil } //nolint:nilnil // nothing

func findModel(context.Context, viewer, url.Values) (any, error) { return &findPage{}, nil }
