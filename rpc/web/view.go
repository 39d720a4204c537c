package web

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/url"

	"github.com/seed61375155/trawl/rpc/web/chart"
)

//go:embed pages/*.html
var pages embed.FS

// A view makes pages and their parts.
type view struct {
	templates map[string]*template.Template // by the unit of amounts
	routes    map[string]route
	kept      *views
	exports   exporting
	ledgers   ledgers
	digests   store[*digest]
	blocks    store[*blockData]
	large     chan struct{} // one element: a block is being read
	pooled    poolCache
}

func newView(log *slog.Logger) *view {
	v := &view{templates: map[string]*template.Template{}, kept: newViews(log),
		digests: store[*digest]{most: maxDigests}, blocks: store[*blockData]{most: maxBlocks},
		large: make(chan struct{}, 1),
	}
	for _, unit := range units {
		t := template.New("").Funcs(pageFunctions(unit))
		v.templates[unit] = template.Must(t.ParseFS(pages, "pages/*.html"))
	}
	v.routes = routes(v)
	return v
}

// render executes a template for a unit of amounts.
func (v *view) render(name, unit string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := v.templates[unit].ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("page %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// A shown is what templates are executed with.
type shown struct {
	*asker // who looks at it

	Page    string // the name of its template
	Part    string // the address of its part, which comes anew
	Back    string // its own address below the base, for forms that return to it
	Tab     string // the entry of the rail that it belongs to
	Base    string // leads from the page to /
	Title   string
	Chain   string // the network; empty: not known, or not for the login
	Denied  string // the method that the page needs and the login may not call
	Refused string // on the page "login": why a login was refused
	Failed  string // why the page could not be made
	Data    any    // of the page's model
}

// login makes the page with the form for logging in. base leads to /; refused says why a login was
// refused, empty where none was.
func (v *view) login(a *asker, base, refused string) ([]byte, error) {
	return v.render("frame.html", a.Look.Unit, shown{
		asker: a, Page: "login", Base: base, Title: "Sign in", Refused: refused,
	})
}

// A viewer is who looks at a page: what is shown is what its calls return.
type viewer interface {
	// Call makes a call in the viewer's name; wallet is that of the path /wallet/, or nil.
	Call(ctx context.Context, wallet *string, method string, params ...any) (json.RawMessage, error)

	// Has reports whether there is a method that the viewer may call.
	Has(method string) bool
}

// errHidden stands for what the viewer may not see.
var errHidden = errors.New("not for this login")

// read makes a call and takes its result apart.
func read(ctx context.Context, v viewer, wallet *string, result any, method string, params ...any) error {
	if !v.Has(method) {
		return errHidden
	}
	reply, err := v.Call(ctx, wallet, method, params...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(reply, result); err != nil {
		return fmt.Errorf("result of %s: %w", method, err)
	}
	return nil
}

// get returns the result of a call, nil where there is none for the viewer.
func get[T any](ctx context.Context, v viewer, wallet *string, method string, params ...any) *T {
	result := new(T)
	if read(ctx, v, wallet, result, method, params...) != nil {
		return nil
	}
	return result
}

// A model reads what a page or a part of one shows. query is that of the request.
type model func(ctx context.Context, v viewer, query url.Values) (any, error)

// A route is a page, and the part of it that comes anew while it is open.
type route struct {
	title    string
	template string
	tab      string // entry of the rail
	model    model  // nil: nothing is read
	needs    string // method that the viewer must be allowed to call; empty: none
}

// routes returns the pages behind the login, by their names. Names of pages about one of many things end in a slash.
func routes(v *view) map[string]route {
	return map[string]route{
		"index":    {"Overview", "index", "index", v.homeModel, ""},
		"blocks":   {"Blocks", "blocks", "blocks", v.blocksModel, "getblockhash"},
		"block/":   {"Block", "block", "blocks", v.blockModel, "getblock"},
		"tx/":      {"Transaction", "tx", "blocks", v.txModel, "getrawtransaction"},
		"mempool":  {"Memory pool", "mempool", "mempool", v.poolModel, "getmempoolinfo"},
		"searches": {"Searches", "searchlist", "searches", v.searchesModel, "listsearches"},
		"search/":  {"Search", "search", "searches", v.searchModel, "getsearch"},
		"new":      {"New search", "new", "searches", newModel, "createsearch"},
		"wallets":  {"Wallets", "walletlist", "wallets", walletsModel, "listwallets"},
		"wallet/":  {"Wallet", "wallet", "wallets", walletModel, "getwalletinfo"},
		"restore":  {"Restore", "restore", "wallets", restoreModel, "previewrestore"},
		"peers":    {"Peers", "peerlist", "peers", peersModel, "getpeerinfo"},
		"more":     {"More", "more", "more", moreModel, ""},
		"find":     {"Find", "find", "", findModel, ""},
	}
}

// pageFunctions are the functions that templates may call.
func pageFunctions(unit string) template.FuncMap {
	return template.FuncMap{
		"number": number, "bytes": bytesText, "duration": duration, "ago": ago, "utc": utc, "iso": iso,
		"percent": percent, "short": short, "json": asJSON, "query": url.QueryEscape, "list": list, "pairs": pairs,
		"plural": plural, "ms": milliseconds, "brief": brief, "icon": icon, "clean": clean, "rate": rateText,
		"only": only, "si": siText, "when": when,
		"ends": ends, "searchpath": searchPath, "walletpath": walletPath, "blockpath": blockPath, "txpath": txPath,
		"amt":         func(a any) amountText { return amountIn(unit, a, false) },
		"signed":      func(a any) amountText { return amountIn(unit, a, true) },
		"balanceplot": func(b *book, axis string) *chart.Plot { return balancePlot(b, axis, unit) },
		"flowplot":    func(b *book, axis string) *chart.Plot { return flowPlot(b, axis, unit) },
	}
}

// asJSON is for attributes that scripts read.
func asJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

func list(values ...any) []any { return values }

// pairs makes a map of keys and values, for templates that need several values.
func pairs(values ...any) (map[string]any, error) {
	m := map[string]any{}
	for i := 0; i+1 < len(values); i += 2 {
		key, ok := values[i].(string)
		if !ok {
			return nil, fmt.Errorf("key %v is no text", values[i])
		}
		m[key] = values[i+1]
	}
	return m, nil
}
