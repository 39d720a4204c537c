package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/options"
	api "github.com/seed61375155/trawl/rpc/client"
)

const (
	entriesAtOnce = 1000 // of a page
	interrupted   = 130  // the exit status after an interrupt, as shells have it
)

// listsEntries reports whether the entries of a search are to be printed one by one.
func listsEntries(s *options.Settings) bool {
	return s.Bool("follow", false) || s.Bool("csv", false) || s.Bool("json", false)
}

// A listing prints the entries of a search.
type listing struct {
	*client
	node       *api.Client
	id, cursor string
	follow     bool // until the search ends
	out        entryWriter
	line       progressLine
	state      string              // of the last page
	height     int32               // up to which all was printed
	pool       map[string]struct{} // unconfirmed entries that were printed
	goes       bool                // the search ends with the listing
}

// entries creates a search, or takes an existing search, and prints its entries: all found by now, or
// with -follow all until the search ends.
func (c *client) entries(method string, params *jsontree.Value) error {
	if c.settings.Bool("csv", false) && c.settings.Bool("json", false) {
		return failf("Only one of -csv, -json may be specified.")
	}
	l := c.listing()
	switch method {
	case "createsearch":
		made, err := c.result(method, params)
		if err != nil {
			return err
		}
		l.id = made.Get("id").Text()
	case "getsearchentries":
		l.id, l.cursor = argument(params, 0, "id"), argument(params, 1, "cursor")
	default:
		return failf("-follow, -csv and -json are for createsearch and getsearchentries")
	}
	// This waits for the node, where -rpcwait is given, and refuses an id that is none.
	if _, err := c.result("getsearch", jsontree.NewArray(jsontree.NewString(l.id))); err != nil {
		return err
	}
	l.node = c.api()
	hits, stop := c.interrupts()
	defer stop()
	return l.run(hits)
}

// listing returns a listing of no search yet.
func (c *client) listing() *listing {
	return &listing{
		client: c, follow: c.settings.Bool("follow", false), line: progressLine{w: c.stderr}, height: -1,
		pool: map[string]struct{}{}, out: newEntryWriter(c.settings, c.stdout),
	}
}

// argument is a text among positional or named parameters, empty where there is none.
func argument(params *jsontree.Value, at int, name string) string {
	if params.Kind() == jsontree.Array {
		return params.At(at).Text()
	}
	if v := params.Get(name); v != nil {
		return v.Text()
	}
	return params.Get("args").At(at).Text()
}

// result makes one call and returns its result.
func (c *client) result(method string, params *jsontree.Value) (*jsontree.Value, error) {
	answer, err := c.call(c.wallet, method, params)
	if err != nil {
		return nil, err
	}
	return answer.value()
}

// api returns the typed client of the same node, with the same login.
func (c *client) api() *api.Client {
	cfg := api.Config{URL: c.endpoint.url, HTTP: c.endpoint.client}
	if password := c.settings.String("rpcpassword", ""); password != "" {
		cfg.User, cfg.Password = c.settings.String("rpcuser", ""), password
	} else {
		cfg.Cookie = c.settings.CookieFile()
	}
	return api.New(cfg)
}

// pages are those behind the cursor, up to the last that there is where the search is not followed.
func (l *listing) pages(ctx context.Context) iter.Seq2[api.Page, error] {
	if l.follow {
		return l.node.FollowSearch(ctx, l.id, l.cursor)
	}
	return func(yield func(api.Page, error) bool) {
		cursor := l.cursor
		for more := true; more; {
			page, err := l.node.SearchEntries(ctx, l.id, cursor, entriesAtOnce)
			if !yield(page, err) || err != nil {
				return
			}
			cursor, more = page.Cursor, page.More
		}
	}
}

// run prints all pages. An interrupt leaves the search as it is.
func (l *listing) run(hits <-chan os.Signal) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	pages, ended := make(chan api.Page), make(chan error, 1)
	go func() {
		for page, err := range l.pages(ctx) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case pages <- page:
			case <-ctx.Done():
				return
			}
		}
		ended <- nil
	}()
	var poll <-chan time.Time
	if l.terminal {
		tick := time.NewTicker(pollInterval)
		defer tick.Stop()
		poll = tick.C
	}
	defer l.line.clear()
	for {
		select {
		case page := <-pages:
			if err := l.print(&page); err != nil {
				return err
			}
		case err := <-ended:
			l.line.clear()
			if err != nil {
				return err
			}
			return l.end()
		case <-hits:
			l.line.clear()
			return &refusal{l.farewell(), interrupted}
		case <-poll:
			l.progress(ctx)
		}
	}
}

// print writes the entries of a page, and what is new of the unconfirmed ones.
func (l *listing) print(page *api.Page) error {
	l.line.clear()
	l.cursor, l.height = page.Cursor, page.Height
	for i := range page.Entries {
		l.out.write(&page.Entries[i])
	}
	pool := make(map[string]struct{}, len(page.Unconfirmed))
	for i := range page.Unconfirmed {
		e := &page.Unconfirmed[i]
		key := fmt.Sprint(e.Type, e.TxID, e.Vout, e.SpendTxID, e.SpendVin, e.Desc)
		if _, known := l.pool[key]; !known {
			l.out.write(e)
		}
		pool[key] = struct{}{}
	}
	l.pool = pool
	if err := l.out.flush(); err != nil {
		return err
	}
	if page.State != l.state && page.State == api.Paused {
		fmt.Fprintln(l.stderr, strings.TrimSuffix("The search pauses: "+page.Error, ": "))
	}
	l.state = page.State
	if page.State == api.Failed && !page.More {
		return failf("The search failed: %s", page.Error)
	}
	return nil
}

// end says how complete the list is that was printed.
func (l *listing) end() error {
	if l.state == api.Done {
		return nil
	}
	words := map[string]string{api.Aborted: "was aborted", api.Following: "follows the chain"}
	state := words[l.state]
	if state == "" {
		state = "is " + l.state
	}
	note := fmt.Sprintf("The search %s; these are its entries up to height %d.", state, l.height)
	if l.follow {
		return failf("%s", note)
	}
	fmt.Fprintln(l.stderr, note)
	return nil
}

// reaching are the options that say which node it is. A password is not repeated on a screen.
var reaching = []string{
	"chain", "testnet", "testnet4", "signet", "regtest", "dialect", "datadir", "conf", "rpcconnect", "rpcport",
	"rpctlscert", "rpcuser", "rpccookiefile", "stdinrpcpass",
}

// watchEnded is said at the end of a watch.
const watchEnded = "The watch has ended."

// farewell tells how to see the rest.
func (l *listing) farewell() string {
	if !l.follow {
		return "Interrupted: these are not all entries."
	}
	if l.goes {
		return watchEnded
	}
	cli := options.NamesOf(l.settings.Dialect()).CLI
	program := strings.Join(append([]string{cli}, options.Given(l.settings, reaching...)...), " ")
	again := strings.TrimSpace(l.id + " " + l.cursor)
	return fmt.Sprintf("The search goes on. To see what comes, and to end it:\n"+
		"  %s -follow getsearchentries %s\n  %s abortsearch %s", program, again, program, l.id)
}

// progress draws how far the search is.
func (l *listing) progress(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	s, err := l.node.GetSearch(ctx, l.id)
	if err != nil {
		l.line.note = " no answer"
		l.line.draw()
		return
	}
	l.line.note = ""
	l.line.search(&s)
}

// search shows how far a search is.
func (l *progressLine) search(s *api.Search) {
	found := fmt.Sprintf("%d found", s.Found)
	switch s.State {
	case api.Running, api.Queued:
		l.text = fmt.Sprintf("%s  height %d  %s", percentBar(int(s.Progress)), s.Height, found)
		if s.ETA > 0 {
			l.text += fmt.Sprintf("  %v left", time.Duration(s.ETA)*time.Second)
		}
	default:
		l.text = fmt.Sprintf("%s  height %d  %s", s.State, s.Height, found)
	}
	l.draw()
}
