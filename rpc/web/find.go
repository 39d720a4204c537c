package web

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/rpc"
)

// The box on top of each page takes whatever people have at hand. It is a form that is posted, so that keys and
// descriptors are in no address, history or log of a proxy.

// A guessed is what a text in the box looks like.
type guessed int

const (
	guessName guessed = iota
	guessHeight
	guessHash   // of a block, or a transaction's id
	guessOutput // a transaction's id and the number of an output
	guessScript // an address, a key, a descriptor or a script: what a search takes
	guessSecret // a private key, which is refused
)

const (
	maxFound = 20       // names that are offered
	maxBox   = 64 << 10 // bytes of a text in the box
)

var (
	heightText = regexp.MustCompile(`^[0-9]{1,3}(?:,[0-9]{3}){1,2}$|^[0-9]{1,9}$`)
	hashText   = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	outputText = regexp.MustCompile(`^([0-9a-fA-F]{64}):([0-9]{1,6})$`)
	// A key for signing: extended, in the form of wallets, or as WIF. Inside a descriptor it is one too.
	secretText = regexp.MustCompile(`[a-zA-Z]prv[1-9A-HJ-NP-Za-km-z]{20,}` +
		`|(?:^|[^1-9A-HJ-NP-Za-km-z])(?:5[1-9A-HJ-NP-Za-km-z]{50}|[KLc9][1-9A-HJ-NP-Za-km-z]{50,51})(?:$|[^1-9A-HJ-NP-Za-km-z])`)
	scriptText = regexp.MustCompile(`^(?:[a-zA-Z0-9]{2,5}1[a-zA-Z0-9]{20,}|[1-9A-HJ-NP-Za-km-z]{26,40}|[xyztuvYZUV]pub[a-zA-Z0-9]{20,}.*` +
		`|(?:[0-9a-fA-F]{2}){2,}|[a-z_]+\(.*)$`)
)

// guess tells what a text looks like.
func guess(text string) guessed {
	switch {
	case secretText.MatchString(text):
		return guessSecret
	case heightText.MatchString(text):
		return guessHeight
	case hashText.MatchString(text):
		return guessHash
	case outputText.MatchString(text):
		return guessOutput
	case scriptText.MatchString(text) || strings.Contains(text, "\n"):
		return guessScript
	default:
		return guessName
	}
}

// A hit is a page that a text may stand for.
type hit struct{ Icon, Name, What, To string }

// A findPage is what is shown where a text stands for several pages, for none, or is refused.
type findPage struct {
	Text   string // empty where it is refused
	Secret bool
	Hits   []hit
}

// finder looks for what a text stands for.
type finder struct {
	viewer viewer
	text   string
	hits   []hit
}

// find returns the pages that a text stands for. keeps reports whether the form of a new search is among them.
func find(ctx context.Context, v viewer, text string) (page *findPage, keeps bool) {
	kind := guess(text)
	if kind == guessSecret {
		return &findPage{Secret: true}, false
	}
	f := &finder{viewer: v, text: text}
	switch kind {
	case guessHeight:
		f.height(ctx)
	case guessHash:
		f.hash(ctx)
	case guessOutput:
		at := outputText.FindStringSubmatch(text)
		f.transaction(strings.ToLower(at[1]), "#o"+at[2])
	case guessScript:
		if v.Has("createsearch") {
			const what = "an address, a key, a descriptor or a script"
			f.hits = append(f.hits, hit{"searches", "Search for it", what, "ui/new?typed=1"})
			keeps = true
		}
	default: // a name
	}
	f.names(ctx)
	return &findPage{Text: text, Hits: f.hits}, keeps
}

func (f *finder) height(ctx context.Context) {
	n, err := strconv.ParseInt(strings.ReplaceAll(f.text, ",", ""), 10, 64)
	if err != nil || !f.viewer.Has("getblock") {
		return
	}
	var hash string
	if read(ctx, f.viewer, nil, &hash, "getblockhash", n) == nil {
		f.hits = append(f.hits, hit{"blocks", "Block " + number(n), "by its height", blockPath(n)})
	}
}

func (f *finder) hash(ctx context.Context) {
	id := strings.ToLower(f.text)
	var header struct{ Height int64 }
	if f.viewer.Has("getblock") && read(ctx, f.viewer, nil, &header, "getblockheader", id) == nil {
		f.hits = append(f.hits, hit{"blocks", "Block " + number(header.Height), "by its hash", blockPath(id)})
		return
	}
	f.transaction(id, "")
}

func (f *finder) transaction(id, output string) {
	if f.viewer.Has("getrawtransaction") {
		f.hits = append(f.hits, hit{"arrow", "Transaction " + short(id), "by its id", txPath(id) + output})
	}
}

// names looks for searches and wallets whose names begin with the text; the exact names come first.
func (f *finder) names(ctx context.Context) {
	wanted := strings.ToLower(f.text)
	var begin []hit
	take := func(name string, h hit) {
		switch lower := strings.ToLower(name); {
		case lower == wanted:
			f.hits = append(f.hits, h)
		case strings.HasPrefix(lower, wanted) && wanted != "":
			begin = append(begin, h)
		}
	}
	if all := get[[]search](ctx, f.viewer, nil, "listsearches"); all != nil && f.viewer.Has("getsearch") {
		for _, s := range *all {
			take(s.Name, hit{"searches", s.Name, "search, " + s.State, searchPath(s.ID)})
		}
	}
	if all := get[[]string](ctx, f.viewer, nil, "listwallets"); all != nil && f.viewer.Has("getwalletinfo") {
		for _, name := range *all {
			take(name, hit{"wallet", cmp.Or(name, noName), "wallet", walletPath(name)})
		}
	}
	f.hits = append(f.hits, begin...)
	f.hits = f.hits[:min(len(f.hits), maxFound)]
}

// find answers the box: it leads to the page, or shows what the text may be.
func (h *Handler) find(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	form, bad := readForm(d, w, r, maxBox)
	if bad != 0 {
		refuse(d, w, bad)
		return
	}
	who, status := h.admitPage(d, r, form.Get("token"))
	switch {
	case status == http.StatusUnauthorized:
		h.sendLogin(d, w, r, status, refusedLogin(r))
		return
	case status != 0:
		refuse(d, w, status)
		return
	}
	a := h.asks(d, r, who, "find")
	h.guarded(a, w, func() {
		var keep func(string)
		if who.session != nil {
			keep = func(text string) { h.sessions.keep(who.session, text) }
		}
		h.view.serveFind(a, w, r, keep, strings.TrimSpace(form.Get("q")))
	})
}

// serveFind leads to the only page that a text stands for, or shows all. keep hands the text to the form of a new
// search. It is nil without a session.
func (v *view) serveFind(a *asker, w http.ResponseWriter, r *http.Request, keep func(string), text string) {
	sent := shown{asker: a, Page: "find", Base: a.Base, Title: "Find"}
	page, keeps := &findPage{}, false
	if a.Starting == "" && text != "" {
		page, keeps = find(r.Context(), &bounded{a, v.kept.calls}, text)
	}
	if keeps && keep == nil { // there is nobody to keep the text for
		page.Hits = page.Hits[1:]
	} else if keeps {
		keep(text)
	}
	if len(page.Hits) == 1 {
		w.Header().Set("Location", a.Base+page.Hits[0].To)
		a.reply(w, http.StatusSeeOther, htmlKind, nil)
		return
	}
	sent.Data = page
	status := http.StatusOK
	if len(page.Hits) == 0 && text != "" {
		status = http.StatusNotFound
		if page.Secret {
			status = http.StatusBadRequest
		}
	}
	v.sendPage(a, w, r, status, &sent)
}
