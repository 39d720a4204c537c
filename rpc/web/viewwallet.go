package web

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
)

// maxRows is how many rows of a list a page shows.
const maxRows = 200

// A scanning is how far a rescan is; the node says false where there is none.
type scanning struct {
	is       bool
	Duration int64
	Progress float64
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *scanning) UnmarshalJSON(text []byte) error {
	if string(text) == "false" {
		return nil
	}
	s.is = true
	type plain scanning
	return json.Unmarshal(text, (*plain)(s))
}

// Left is how many seconds the rescan will take, 0 where that is not known.
func (s *scanning) Left() int64 {
	if s.Progress < 0.01 {
		return 0
	}
	return int64(float64(s.Duration)*(1-s.Progress)/s.Progress) + 1
}

type walletInfo struct {
	Name               string `json:"walletname"`
	Format             string
	TxCount            int64
	KeypoolSize        int64
	UnlockedUntil      *int64 `json:"unlocked_until"`
	PrivateKeysEnabled bool   `json:"private_keys_enabled"`
	Scanning           scanning
	BirthTime          int64
	Last               struct{ Height int64 } `json:"lastprocessedblock"`
}

type balances struct {
	Mine struct {
		Trusted          amount
		UntrustedPending amount `json:"untrusted_pending"`
		Immature         amount
		Used             *amount
	}
}

// A wallet is the known data of one wallet. A field is nil where the viewer may not see
// it.
type wallet struct {
	Name     string
	Info     *walletInfo
	Balances *balances
}

// Title is the name of a wallet; one may be without.
func (w *wallet) Title() string { return cmp.Or(w.Name, noName) }

// noName stands for the name of a wallet that has none.
const noName = "(default wallet)"

// Rescans reports whether the wallet looks through the chain.
func (w *wallet) Rescans() bool { return w.Info != nil && w.Info.Scanning.is }

// wallets returns those that are loaded, and the names of the others.
func wallets(ctx context.Context, v viewer) (loaded []wallet, unloaded []string) {
	names := get[[]string](ctx, v, nil, "listwallets")
	if names == nil {
		return nil, nil
	}
	loaded = make([]wallet, len(*names))
	var looks []func()
	for i, name := range *names {
		loaded[i].Name = name
		if i < maxRows {
			looks = append(looks, func() { loaded[i].look(ctx, v) })
		}
	}
	together(looks...)
	var dir walletDir
	if read(ctx, v, nil, &dir, "listwalletdir") == nil {
		for _, w := range dir.Wallets {
			if !slices.Contains(*names, w.Name) {
				unloaded = append(unloaded, w.Name)
			}
		}
	}
	return loaded, unloaded
}

// A walletDir is what there is of wallets, loaded or not.
type walletDir struct {
	Wallets []struct {
		Name    string
		Loading *walletLoading
	}
}

// A walletLoading is how far the loading of a wallet is.
type walletLoading struct {
	Step     string
	Duration int64
	Progress float64
}

// loadingOf returns how far the loading of a wallet is; nil where it is not being loaded.
func loadingOf(ctx context.Context, v viewer, name string) *walletLoading {
	var dir walletDir
	if read(ctx, v, nil, &dir, "listwalletdir") != nil {
		return nil
	}
	for _, w := range dir.Wallets {
		if w.Name == name {
			return w.Loading
		}
	}
	return nil
}

// look reads the state and the balances of a wallet.
func (w *wallet) look(ctx context.Context, v viewer) {
	w.Info = get[walletInfo](ctx, v, &w.Name, "getwalletinfo")
	w.Balances = get[balances](ctx, v, &w.Name, "getbalances")
}

type received struct {
	Address       string
	Amount        amount
	Confirmations int64
	Label         string
	TxIDs         []string
}

type walletTx struct {
	Category      string
	Amount        amount
	Address       string
	Label         string
	Confirmations int64
	BlockHeight   int64
	Time          int64
	TxID          string
}

// A walletPage is what the page of one shows.
type walletPage struct {
	wallet

	Problem  string
	Loading  *walletLoading // nil: it is loaded, or there is a problem
	Received []received
	All      int // addresses that received something
	Recent   []walletTx
	Failed   []string // what could not be read now, in words
	Gap      int      // with which payments of a restored backup are found; 0: it is not known of any
}

// Check is the arguments of checkwallet.
func (p *walletPage) Check() []any {
	if p.Gap == 0 {
		return []any{}
	}
	return []any{map[string]any{"gap": p.Gap}}
}

// maxGap is the largest gap of checkwallet.
const maxGap = 100_000

// PageTitle implements titled.
func (p *walletPage) PageTitle() string { return p.Title() }

// Seconds is after how long the page asks again without events.
func (p *walletPage) Seconds() int {
	if p.Rescans() {
		return 2
	}
	return 15
}

func walletModel(ctx context.Context, v viewer, query url.Values) (any, error) {
	n := &noting{viewer: v}
	v = n
	p := &walletPage{wallet: wallet{Name: query.Get(about)}}
	if gap, err := strconv.Atoi(query.Get("gap")); err == nil && gap > 0 && gap <= maxGap {
		p.Gap = gap
	}
	p.Info = new(walletInfo)
	if err := read(ctx, v, &p.Name, p.Info, "getwalletinfo"); err != nil {
		p.Problem, p.Info = err.Error(), nil
		p.Loading = loadingOf(ctx, v, p.Name)
		return p, nil //nolint:nilerr // the page says it
	}
	p.Balances = get[balances](ctx, v, &p.Name, "getbalances")
	if list := get[[]received](ctx, v, &p.Name, "listreceivedbyaddress", 0); list != nil {
		slices.SortStableFunc(*list, func(a, b received) int { return cmp.Compare(b.Amount, a.Amount) })
		p.All = len(*list)
		p.Received = (*list)[:min(p.All, maxRows)]
	}
	if list := get[[]walletTx](ctx, v, &p.Name, "listtransactions", "*", 20); list != nil {
		p.Recent = *list
		slices.Reverse(p.Recent)
	}
	p.Failed = n.words()
	return p, nil
}
